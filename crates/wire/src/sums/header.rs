//! The description that all windows of a stream of sums share.

use alloc::string::String;
use alloc::vec::Vec;

use sotto_rlwe::KeyId;
use sotto_sums::Form;

use super::codec::{read_count, write_count};
use super::column::{SumsColumn, TickPeriod};
use super::part::{PartPlaces, SumsPart};
use crate::error::WireError;
use crate::frame;
use crate::hash::derived;
use crate::kind::Kind;
use crate::reader::{Reader, write_name};
use crate::tag::StreamId;

/// The longest frame of a [`SumsHeader`]: 64 KiB, in bytes.
pub const LARGEST_SUMS_HEADER: u64 = 64 << 10;
/// Largest number of parts of a window.
pub const MOST_STREAM_PARTS: usize = 16;
/// Largest number of ticks of a window: its readings are a count, below 2^16.
const MOST_TICKS: u32 = u16::MAX as u32;
const STREAM_CONTEXT: &str = "sotto 2026 sums stream v1";
const HEADER_CONTEXT: &str = "sotto 2026 sums header v1";

/// The header of a stream of sums. Two headers are equal if their bytes are.
///
/// ```
/// use sotto_sums::StreamKeys;
/// use sotto_rlwe::KeyId;
/// use sotto_wire::{Digit, Placed, Quantity, SumsColumn, SumsHeader, SumsPart, SumsStream, TickPeriod};
///
/// let level = SumsColumn {
///     name: "level".into(), unit: "cm".into(), origin: 0.0, step: 0.1, least: 0, most: 4095,
/// };
/// // Readings of 12 bits and their squares, for sums of 2,048 windows.
/// let part = |quantity, width| SumsPart {
///     quantities: vec![Placed { quantity, digit: Digit::Whole, width }],
///     reasons: 0,
/// };
/// let stream = SumsStream {
///     device: "cellar".into(),
///     stream: "tank".into(),
///     period: TickPeriod::new(60, 1)?,
///     ticks: 16,
///     columns: vec![level],
///     parts: vec![part(Quantity::Reading(0), 23), part(Quantity::Square(0), 35)],
/// };
/// let secret = [1; 32]; // a real secret is random
/// let header = SumsHeader::new(stream, |id| KeyId(StreamKeys::derive(&secret, id).id()))?;
/// assert_eq!(header.form(0)?.body_bytes(16), 46);
/// assert!(header.form(0)?.fits(2048) && header.form(1)?.fits(2048));
/// assert_eq!(SumsHeader::read(&header.write())?, header);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SumsHeader {
    stream: SumsStream,
    key: KeyId,
    places: Vec<PartPlaces>,
    payload: Vec<u8>,
    stream_id: [u8; 32],
    id: StreamId,
}

/// The facts of a [`SumsHeader`], not yet checked.
///
/// Example: [`SumsHeader`]
#[derive(Clone, Debug, PartialEq)]
pub struct SumsStream {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// The time between ticks.
    pub period: TickPeriod,
    /// Largest number of ticks of a window, 1 to 65,535.
    pub ticks: u32,
    /// The columns.
    pub columns: Vec<SumsColumn>,
    /// The parts of a window, 1 to [`MOST_STREAM_PARTS`].
    pub parts: Vec<SumsPart>,
}

impl SumsHeader {
    /// Makes the header of a stream. `key` returns the key's id from the stream's id, from which keys are derived.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name, a column, a quantity or the number of ticks or parts is not valid, or if a place
    /// is too narrow for its quantity.
    pub fn new(stream: SumsStream, key: impl FnOnce(&[u8; 32]) -> KeyId) -> Result<Self, WireError> {
        if !(1..=MOST_TICKS).contains(&stream.ticks) {
            return Err(WireError::Value("a window of sums has 1 to 65535 ticks"));
        }
        if !(1..=MOST_STREAM_PARTS).contains(&stream.parts.len()) {
            return Err(WireError::Value("a window of sums has 1 to 16 parts"));
        }
        stream.columns.iter().try_for_each(SumsColumn::check)?;
        let mut names: Vec<&str> = stream.columns.iter().map(|column| &*column.name).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(WireError::Value("two columns of the stream have one name"));
        }
        let places = |part| PartPlaces::new(part, &stream.columns, stream.ticks);
        let places = stream.parts.iter().map(places).collect::<Result<_, _>>()?;
        let facts = stream.bytes()?;
        let stream_id = derived(STREAM_CONTEXT, [&facts[..]]);
        let key = key(&stream_id);
        let payload = [&key.0, &facts[..]].concat();
        if (payload.len() + frame::FRAME_OVERHEAD) as u64 > LARGEST_SUMS_HEADER {
            return Err(WireError::Value("the header of a stream of sums has at most 64 KiB"));
        }
        let id = StreamId(derived(HEADER_CONTEXT, [&payload[..]]));
        Ok(Self { stream, key, places, payload, stream_id, id })
    }

    /// Returns the facts of the stream.
    #[must_use]
    pub fn stream(&self) -> &SumsStream {
        &self.stream
    }

    /// Returns the id of the key of its tags.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns the stream's id, from which all keys are derived: a hash of everything but the key's id.
    #[must_use]
    pub fn stream_id(&self) -> &[u8; 32] {
        &self.stream_id
    }

    /// Returns the header's hash, which windows name and signatures cover.
    #[must_use]
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Returns the form of a part.
    ///
    /// # Errors
    /// [`WireError::Value`] if the stream has no such part.
    pub fn form(&self, part: usize) -> Result<Form<'_>, WireError> {
        let facts = self.part(part)?;
        // There are as many places as parts.
        self.places[part].form(facts, self.stream.columns.len(), self.stream.ticks)
    }

    pub(super) fn part(&self, part: usize) -> Result<&SumsPart, WireError> {
        self.stream.parts.get(part).ok_or(WireError::Value("the stream has no such part"))
    }

    pub(super) fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Returns the header's frame.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        frame::write(Kind::SumsHeader, self.payload.len(), |out| out.extend_from_slice(&self.payload))
    }

    /// Reads a frame of at most [`LARGEST_SUMS_HEADER`] bytes.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of the header of a stream of sums.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::SumsHeader, LARGEST_SUMS_HEADER)?;
        let header = Self::parse(&mut reader)?;
        reader.finish()?;
        Ok(header)
    }

    pub(super) fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let key = reader.key_id()?;
        let stream = SumsStream::read(reader)?;
        Self::new(stream, |_| key)
    }
}

impl PartialEq for SumsHeader {
    fn eq(&self, other: &Self) -> bool {
        self.payload == other.payload
    }
}

impl Eq for SumsHeader {}

impl SumsStream {
    fn bytes(&self) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(256);
        write_name(&mut out, &self.device)?;
        write_name(&mut out, &self.stream)?;
        out.extend_from_slice(&self.period.numerator().to_le_bytes());
        out.extend_from_slice(&self.period.denominator().to_le_bytes());
        out.extend_from_slice(&self.ticks.to_le_bytes());
        write_count(&mut out, self.columns.len())?;
        self.columns.iter().try_for_each(|column| column.write(&mut out))?;
        out.push(self.parts.len() as u8);
        self.parts.iter().try_for_each(|part| part.write(&mut out))?;
        Ok(out)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (device, stream) = (reader.name()?, reader.name()?);
        let (period, ticks) = (TickPeriod::read(reader)?, reader.u32()?);
        // A column takes at least 34 bytes: two texts of one byte or more, and four numbers.
        let columns = read_count(reader, 34)?.map(|_| SumsColumn::read(reader)).collect::<Result<_, _>>()?;
        let count = usize::from(reader.u8()?);
        if count > MOST_STREAM_PARTS {
            return Err(WireError::Value("a window of sums has 1 to 16 parts"));
        }
        let parts = (0..count).map(|_| SumsPart::read(reader)).collect::<Result<_, _>>()?;
        Ok(Self { device, stream, period, ticks, columns, parts })
    }
}
