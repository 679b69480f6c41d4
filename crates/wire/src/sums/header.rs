//! The header of a stream of sums.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use sotto_pack::{Channel, Layout, MOST_PARTS, MOST_SUM_TICKS, Period, StreamProfile, SumsError, SumsPart};
use sotto_rlwe::{KeyId, ParameterId};
use sotto_sums::SALT_BYTES;

use super::forms::{PartPlaces, SumsForms, refused};
use super::quantity::{read_part, write_part};
use crate::channels::{ChannelList, read_channels, write_channels};
use crate::error::WireError;
use crate::frame;
use crate::hash::derived;
use crate::reader::{Reader, write_name};
use crate::signature::SIGNATURE_BYTES;
use crate::stream::{LARGEST_STREAM_HEADER, StreamHeader, WindowValues};
use crate::tag::{STREAM_TAG_BYTES, StreamId};

/// Largest number of bytes of a window of sums in addition to its bodies and tags, if no reading is missing, its number
/// is below 2^21, it has at most 127 ticks and the time is before the year 10,000. Before September 2039 there is a byte
/// less.
pub const SUMS_WINDOW_OVERHEAD: usize = 1 + STREAM_TAG_BYTES + SALT_BYTES + 3 + 7 + 1 + 1 + SIGNATURE_BYTES;
const STREAM_CONTEXT: &str = "sotto 2026 sums stream v1";
const HEADER_CONTEXT: &str = "sotto 2026 sums header v1";

/// The facts of a stream of sums, not yet checked.
///
/// ```
/// use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart};
/// use sotto_rlwe::KeyId;
/// use sotto_sums::StreamKeys;
/// use sotto_wire::{StreamHeader, SumsStream};
///
/// let level = Channel {
///     name: "level".into(), unit: "cm".into(), minimum: 0.0, maximum: 409.4, resolution: Some(0.1), ..Channel::default()
/// };
/// // Readings of 12 bits and their squares, for sums of 2,048 windows.
/// let part = |quantity, width| SumsPart {
///     quantities: vec![Placed { quantity, digit: Digit::Whole, width }],
///     reasons: 0,
/// };
/// let stream = SumsStream {
///     device: "cellar".into(),
///     stream: "tank".into(),
///     period: Period::of_seconds(60, 1)?,
///     ticks: 16,
///     channels: vec![level],
///     rounded: true,
///     parts: vec![part(Quantity::Reading(0), 23), part(Quantity::Square(0), 34)],
/// };
/// let secret = [1; 32]; // a real secret is random
/// let header = StreamHeader::of_sums(stream, |id| KeyId(StreamKeys::derive(&secret, id).id()))?;
/// assert_eq!(header.sums_form(0)?.body_bytes(16), 46);
/// assert!(header.sums_form(0)?.fits(2048) && header.sums_form(1)?.fits(2048));
/// assert_eq!(StreamHeader::read(&header.write())?, header);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SumsStream {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// The time between ticks.
    pub period: Period,
    /// Largest number of ticks of a window, 1 to 65,535.
    pub ticks: u32,
    /// The channels, each with a resolution: a reading is a whole number q of steps from the middle of the range
    /// ([`Quantiser`](sotto_pack::Quantiser)).
    pub channels: Vec<Channel>,
    /// True if windows count the readings that were rounded.
    pub rounded: bool,
    /// The parts of a window, 1 to [`MOST_PARTS`].
    pub parts: Vec<SumsPart>,
}

impl StreamHeader {
    /// Makes the header of a stream of sums. `key` returns the key's id from the stream's id, from which keys are
    /// derived.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name, a channel, a quantity or the number of ticks or parts is not valid, a place is too
    /// narrow for its quantity.
    ///
    /// Example: [`SumsStream`]
    pub fn of_sums(stream: SumsStream, key: impl FnOnce(&[u8; 32]) -> KeyId) -> Result<Self, WireError> {
        if !(1..=MOST_SUM_TICKS).contains(&stream.ticks) {
            return Err(refused(SumsError::Ticks));
        }
        if !(1..=MOST_PARTS).contains(&stream.parts.len()) {
            return Err(refused(SumsError::Parts));
        }
        let layout = Layout::of_sums(stream.channels.clone(), stream.ticks).map_err(|_| {
            WireError::Value("the channels of a stream of sums have names, ranges and resolutions")
        })?;
        let places = stream.parts.iter().map(|part| PartPlaces::new(part, &layout));
        let places = places.collect::<Result<_, _>>()?;
        let facts = stream.bytes()?;
        let stream_id = derived(STREAM_CONTEXT, [&facts[..]]);
        let key = key(&stream_id);
        let payload = [&key.0, &facts[..]].concat();
        if (payload.len() + frame::FRAME_OVERHEAD) as u64 > LARGEST_STREAM_HEADER {
            return Err(WireError::Value("the header of a stream of sums has at most 64 KiB"));
        }
        let id = StreamId(derived(HEADER_CONTEXT, [&payload[..]]));
        Ok(Self {
            device: stream.device,
            stream: stream.stream,
            parameters: ParameterId(stream_id),
            key,
            period: stream.period,
            layout,
            values: WindowValues::Sums(stream.parts),
            sums: Some(SumsForms { rounded: stream.rounded, places }),
            payload,
            id,
        })
    }

    /// Makes the header of a stream of sums from a device's profile. Returns None if the stream is not one of sums.
    ///
    /// `period` is the device's period, for streams without one of their own.
    ///
    /// # Errors
    /// Those of [`StreamHeader::of_sums`].
    pub fn of_sums_profile(
        device: &str,
        period: Period,
        profile: &StreamProfile,
        key: impl FnOnce(&[u8; 32]) -> KeyId,
    ) -> Result<Option<Self>, WireError> {
        if profile.sums.is_empty() {
            return Ok(None);
        }
        let stream = SumsStream {
            device: device.to_owned(),
            stream: profile.stream.clone(),
            period: profile.period_ms.unwrap_or(period),
            ticks: profile.ticks,
            channels: profile.channels.clone(),
            rounded: profile.rounded,
            parts: profile.sums.clone(),
        };
        Self::of_sums(stream, key).map(Some)
    }

    /// Returns true if the windows hold sums without a lattice.
    #[must_use]
    pub fn is_of_sums(&self) -> bool {
        self.sums.is_some()
    }

    /// Returns true if the windows count the readings that were rounded.
    #[must_use]
    pub fn counts_rounded(&self) -> bool {
        self.sums.as_ref().is_some_and(|sums| sums.rounded)
    }

    /// Returns the parts of the windows of a stream of sums; none for other streams.
    #[must_use]
    pub fn parts(&self) -> &[SumsPart] {
        match &self.values {
            WindowValues::Sums(parts) => parts,
            _ => &[],
        }
    }

    /// Returns the id of a stream of sums, from which all keys are derived: a hash of everything but the key's id. Returns
    /// None for other streams.
    #[must_use]
    pub fn stream_id(&self) -> Option<&[u8; 32]> {
        self.sums.as_ref().map(|_| &self.parameters.0)
    }

    pub(crate) fn parse_sums(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let before = reader.rest();
        let key = reader.key_id()?;
        let stream = SumsStream::read(reader)?;
        let read = Self::of_sums(stream, |_| key)?;
        // The encoding is canonical; a negative zero, for example, would be a second form.
        if read.payload != before[..before.len() - reader.left()] {
            return Err(WireError::Value("the header of the stream is not in its canonical form"));
        }
        Ok(read)
    }
}

impl SumsStream {
    fn bytes(&self) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(256);
        write_name(&mut out, &self.device)?;
        write_name(&mut out, &self.stream)?;
        let (numerator, denominator) = self.period.seconds();
        out.extend_from_slice(&numerator.to_le_bytes());
        out.extend_from_slice(&denominator.to_le_bytes());
        out.extend_from_slice(&self.ticks.to_le_bytes());
        write_channels(&mut out, &self.channels, self.rounded)?;
        out.push(self.parts.len() as u8);
        self.parts.iter().try_for_each(|part| write_part(&mut out, part))?;
        Ok(out)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (device, stream) = (reader.name()?, reader.name()?);
        let (period, ticks) = (read_period(reader)?, reader.u32()?);
        let ChannelList { channels, rounded } = read_channels(reader)?;
        let count = usize::from(reader.u8()?);
        if count > MOST_PARTS {
            return Err(refused(SumsError::Parts));
        }
        let parts = (0..count).map(|_| read_part(reader)).collect::<Result<_, _>>()?;
        Ok(Self { device, stream, period, ticks, channels, rounded, parts })
    }
}

/// Reads a fraction of a second.
fn read_period(reader: &mut Reader<'_>) -> Result<Period, WireError> {
    let seconds = (reader.u32()?, reader.u32()?);
    let period = Period::of_seconds(seconds.0, seconds.1).map_err(|_| {
        WireError::Value("the period of a stream is a fraction of a second, from 1 ms to below 2^32 ms")
    })?;
    if period.seconds() == seconds {
        Ok(period)
    } else {
        Err(WireError::Value("the period of a stream is in lowest terms"))
    }
}
