//! The description that all windows of a stream share. The cloud gets it once; every window names it by its hash.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use sotto_pack::{Channel, Encoding, Layout, PackError, Period, StepDigits, StreamProfile, SumsPart};
use sotto_rlwe::{KeyId, ParameterId};

use crate::channels::{ChannelList, read_channels, write_channels};
use crate::error::WireError;
use crate::family::{Family, SLOTS, SUMS};
use crate::frame;
use crate::hash::derived;
use crate::kind::Kind;
use crate::reader::{Reader, write_name};
use crate::sums::SumsForms;
use crate::tag::StreamId;

/// The longest frame of a [`StreamHeader`]: 64 KiB, in bytes.
pub const LARGEST_STREAM_HEADER: u64 = 64 << 10;
/// Largest number of slots of a window.
const MOST_SLOTS: u32 = 1 << 16;
const ID_CONTEXT: &str = "sotto 2026 stream header v1";
/// Marks a stream of slots that hold whole steps.
const STEPS: u8 = 1;
const SUMS_ONLY: WireError = WireError::Value(
    "a period of no whole milliseconds takes a stream of sums: readings and their sums, no ciphertexts",
);

/// The description of a stream of windows of slots or of sums: device, key, channels and form. Two headers are equal if
/// their bytes are.
///
/// ```
/// use sotto_pack::Channel;
/// use sotto_rlwe::{KeyId, ParameterId};
/// use sotto_wire::{StreamHeader, StreamId, StreamParts, StreamTag, WindowValues};
///
/// let boiler = Channel {
///     name: "boiler".into(),
///     unit: "°C".into(),
///     minimum: -20.0,
///     maximum: 120.0,
///     resolution: Some(0.1),
///     ..Channel::default()
/// };
/// let stream = StreamHeader::new(StreamParts {
///     device: "cellar".into(),
///     stream: "boiler".into(),
///     parameters: ParameterId([1; 32]),
///     key: KeyId([2; 16]),
///     period: 60_000,
///     ticks: 24,
///     channels: vec![boiler],
///     values: WindowValues::Slots(32),
/// })?;
/// let (id, tag): (StreamId, StreamTag) = (stream.id(), stream.id().tag());
/// assert_eq!(id.0[..8], tag.0);
/// assert_eq!(StreamHeader::read(&stream.write())?, stream);
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamHeader {
    pub(crate) device: String,
    pub(crate) stream: String,
    pub(crate) parameters: ParameterId,
    pub(crate) key: KeyId,
    pub(crate) period: Period,
    pub(crate) layout: Layout,
    pub(crate) values: WindowValues,
    /// The forms of the parts of a stream of sums.
    pub(crate) sums: Option<SumsForms>,
    pub(crate) payload: Vec<u8>,
    pub(crate) id: StreamId,
}

/// The parts of a [`StreamHeader`], not yet checked.
///
/// Example: [`StreamHeader`]
#[derive(Clone, Debug)]
pub struct StreamParts {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// The ciphertexts' parameters.
    pub parameters: ParameterId,
    /// The key that decrypts the windows.
    pub key: KeyId,
    /// Milliseconds between ticks, at least 1.
    pub period: u32,
    /// Largest number of ticks of a window.
    pub ticks: u32,
    /// The channels.
    pub channels: Vec<Channel>,
    /// The kind of values in a window.
    pub values: WindowValues,
}

/// The kind of values that a stream's windows hold, and their encryption.
///
/// Example: [`StreamHeader`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowValues {
    /// Whole numbers at places, which earlier programs sent. No program sends or reads such windows.
    Places,
    /// Reals in this number of slots, a power of two from 2 to 2^16, in a [folded](sotto_rlwe::Kept::Folded) CKKS
    /// ciphertext: for polynomials and models.
    Slots(u32),
    /// Whole steps in this number of slots, a power of two from 2 to 2^16, in a [folded](sotto_rlwe::Kept::Folded)
    /// ciphertext of BFV or BGV: for comparisons.
    Steps(u32),
    /// Whole numbers under pads, with tags: for sums.
    Sums(Vec<SumsPart>),
}

impl WindowValues {
    /// Returns the layout of the channels.
    ///
    /// # Errors
    /// [`PackError`] if the channels do not fit.
    fn layout(&self, channels: Vec<Channel>, ticks: u32) -> Result<Layout, PackError> {
        match self {
            Self::Places | Self::Sums(_) => Layout::of_sums(channels, ticks),
            Self::Slots(slots) => Layout::smallest(channels, ticks, *slots, 1, Encoding::Real),
            Self::Steps(slots) => Layout::of_steps(&channels, ticks, *slots),
        }
    }
}

impl WindowValues {
    /// Returns the values of a stream with this profile. Returns None for whole ciphertexts and for places.
    fn of_profile(profile: &StreamProfile) -> Option<Self> {
        let slots = |slots| match profile.encoding {
            Encoding::Resolution => Self::Steps(slots),
            _ => Self::Slots(slots),
        };
        profile.slots.map(slots)
    }
}

impl StreamHeader {
    /// Makes a header of these parts.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid, the period is 0, a channel of steps lacks a resolution, or the number of
    /// slots is not a power of two; [`WireError::Places`] for a stream of places.
    pub fn new(parts: StreamParts) -> Result<Self, WireError> {
        if parts.values == WindowValues::Places {
            return Err(WireError::Places);
        }
        Self::of_parts(parts, Self::bytes)
    }

    /// Makes a header of these parts, with its bytes.
    fn of_parts(
        parts: StreamParts,
        bytes: impl FnOnce(&Self) -> Result<Vec<u8>, WireError>,
    ) -> Result<Self, WireError> {
        let StreamParts { device, stream, parameters, key, period, ticks, channels, values } = parts;
        if period == 0 {
            return Err(WireError::Value("the period of a stream is at least 1 ms"));
        }
        let period = Period::from_milliseconds(period);
        let layout = values
            .layout(channels, ticks)
            .map_err(|_| WireError::Value("the channels of the stream have no compact form"))?;
        match &values {
            WindowValues::Slots(slots) | WindowValues::Steps(slots)
                if !(slots.is_power_of_two() && (2..=MOST_SLOTS).contains(slots)) =>
            {
                return Err(WireError::Value("slots are a power of two from 2 to 65536"));
            }
            WindowValues::Steps(_) if StepDigits::of(&layout).is_none() => {
                return Err(WireError::Value("a channel of a stream of steps has at most 4096 steps"));
            }
            WindowValues::Sums(_) => return Err(WireError::Value("a stream of sums has no parameters")),
            WindowValues::Places | WindowValues::Slots(_) | WindowValues::Steps(_) => {}
        }
        let (payload, id) = (Vec::new(), StreamId([0; 32]));
        let sums = None;
        let mut header = Self { device, stream, parameters, key, period, layout, values, sums, payload, id };
        header.payload = bytes(&header)?;
        header.id = StreamId(derived(ID_CONTEXT, [&header.payload[..]]));
        Ok(header)
    }

    /// Makes the header of a stream from a device's profile. Returns None if the stream's envelopes are of version 1.
    ///
    /// `period` is the device's period, for streams without one of their own.
    ///
    /// # Errors
    /// Those of [`StreamHeader::new`]; [`WireError::Places`] for a profile of windows of places; [`WireError::Value`] for a period
    /// of no whole milliseconds, which streams of sums alone have.
    pub fn of_profile(
        device: &str,
        period: Period,
        profile: &StreamProfile,
        parameters: ParameterId,
        key: KeyId,
    ) -> Result<Option<Self>, WireError> {
        if profile.compact.is_some() {
            return Err(WireError::Places);
        }
        let Some(values) = WindowValues::of_profile(profile).filter(|_| profile.envelope == 2) else {
            return Ok(None);
        };
        let period = profile.period_ms.unwrap_or(period).milliseconds().ok_or(SUMS_ONLY)?;
        let parts = StreamParts {
            device: device.to_owned(),
            stream: profile.stream.clone(),
            parameters,
            key,
            period,
            ticks: profile.ticks,
            channels: profile.channels.clone(),
            values,
        };
        Self::new(parts).map(Some)
    }

    /// Returns the device's name.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Returns the stream's name.
    #[must_use]
    pub fn stream(&self) -> &str {
        &self.stream
    }

    /// Returns the ciphertexts' parameters; for a stream of sums its id, from which its keys are derived.
    #[must_use]
    pub fn parameters(&self) -> ParameterId {
        self.parameters
    }

    /// Returns the key that decrypts the windows.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns the time between ticks.
    #[must_use]
    pub fn period(&self) -> Period {
        self.period
    }

    /// Returns the channels and ticks.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the hash of the header's bytes.
    #[must_use]
    pub fn id(&self) -> StreamId {
        self.id
    }

    /// Returns true for a stream of windows of places, which nothing reads.
    #[must_use]
    pub fn is_of_places(&self) -> bool {
        self.values == WindowValues::Places
    }

    /// Returns the kind of values in its windows.
    #[must_use]
    pub fn values(&self) -> &WindowValues {
        &self.values
    }

    /// Returns the family of its windows.
    pub(crate) fn family(&self) -> &'static Family {
        if self.is_of_sums() { &SUMS } else { &SLOTS }
    }

    pub(crate) fn payload(&self) -> &[u8] {
        &self.payload
    }

    fn bytes(&self) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(256);
        write_name(&mut out, &self.device)?;
        write_name(&mut out, &self.stream)?;
        out.extend_from_slice(&self.parameters.0);
        out.extend_from_slice(&self.key.0);
        let period = self.period.milliseconds().ok_or(SUMS_ONLY)?;
        out.extend_from_slice(&period.to_le_bytes());
        out.extend_from_slice(&self.layout.ticks().to_le_bytes());
        match &self.values {
            // A width of 0 marks slots: no place had 0 bits.
            WindowValues::Slots(slots) => out.extend_from_slice(&[0, slots.ilog2() as u8, 0, 0]),
            WindowValues::Steps(slots) => out.extend_from_slice(&[0, slots.ilog2() as u8, STEPS, 0]),
            // Refused by `new`, and written by `sums`.
            WindowValues::Places | WindowValues::Sums(_) => {}
        }
        write_channels(&mut out, self.layout.channels(), false)?;
        Ok(out)
    }

    /// Returns the header's frame.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let kind = if self.is_of_sums() { Kind::SumsHeader } else { Kind::StreamHeader };
        frame::write(kind, self.payload.len(), |out| out.extend_from_slice(&self.payload))
    }

    /// Reads a frame of at most [`LARGEST_STREAM_HEADER`] bytes.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a stream's header; [`WireError::Places`] if they are that of a stream
    /// of places.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let header = Self::read_stored(bytes)?;
        if header.is_of_places() { Err(WireError::Places) } else { Ok(header) }
    }

    /// Like [`StreamHeader::read`], and accepts the header of a stream of places, which a store may have.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a stream's header.
    pub fn read_stored(bytes: &[u8]) -> Result<Self, WireError> {
        let (kind, family) = match frame::frame_kind(bytes)? {
            Kind::SumsHeader => (Kind::SumsHeader, &SUMS),
            _ => (Kind::StreamHeader, &SLOTS),
        };
        let mut reader = frame::open(bytes, kind, LARGEST_STREAM_HEADER)?;
        let header = Self::parse(family, &mut reader)?;
        reader.finish()?;
        Ok(header)
    }

    /// Reads the header of a stream of this family.
    pub(crate) fn parse(family: &Family, reader: &mut Reader<'_>) -> Result<Self, WireError> {
        if family.window == SUMS.window {
            return Self::parse_sums(reader);
        }
        let before = reader.rest();
        let (device, stream) = (reader.name()?, reader.name()?);
        let (parameters, key) = (reader.parameter_id()?, reader.key_id()?);
        let (period, ticks) = (reader.u32()?, reader.u32()?);
        let values = read_values(reader)?;
        let ChannelList { channels, rounded } = read_channels(reader)?;
        if rounded {
            return Err(WireError::Value("only windows of sums count the readings that were rounded"));
        }
        let parts = StreamParts { device, stream, parameters, key, period, ticks, channels, values };
        let bytes = &before[..before.len() - reader.left()];
        // The columns of places are not kept, but the bytes are, which signatures cover.
        if parts.values == WindowValues::Places {
            return Self::of_parts(parts, |_| Ok(bytes.to_vec()));
        }
        let read = Self::new(parts)?;
        // The encoding is canonical; a negative zero, for example, would be a second form.
        if read.payload != bytes {
            return Err(WireError::Value("the header of the stream is not in its canonical form"));
        }
        Ok(read)
    }
}

impl PartialEq for StreamHeader {
    fn eq(&self, other: &Self) -> bool {
        self.payload == other.payload
    }
}

impl Eq for StreamHeader {}

fn read_values(reader: &mut Reader<'_>) -> Result<WindowValues, WireError> {
    if reader.u8()? > 0 {
        return skip_places(reader).map(|()| WindowValues::Places);
    }
    let [log2, values, none] = reader.array()?;
    let slots = 1_u32.checked_shl(log2.into());
    let slots = slots.ok_or(WireError::Value("slots are a power of two from 2 to 65536"))?;
    match (values, none) {
        (0, 0) => Ok(WindowValues::Slots(slots)),
        (STEPS, 0) => Ok(WindowValues::Steps(slots)),
        _ => Err(WireError::Value("a stream of slots has reals, 0, or steps, 1")),
    }
}

/// Passes over the columns of a stream of places, behind their width: flags, pairs of channels, edges of bins, the id of
/// a fleet.
fn skip_places(reader: &mut Reader<'_>) -> Result<(), WireError> {
    const FLEET: u8 = 2;
    const BINS: u8 = 4;
    let flags = reader.u8()?;
    let products = usize::from(reader.u16()?);
    reader.take(4 * products)?;
    if flags & BINS != 0 {
        for _ in 0..reader.u16()? {
            let (_channel, edges) = (reader.u16()?, usize::from(reader.u16()?));
            reader.take(8 * edges)?;
        }
    }
    reader.take(if flags & FLEET == 0 { 0 } else { 16 }).map(drop)
}
