//! The description that all windows of a stream share. The cloud gets it once; every window names it by its hash.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use sotto_pack::{
    Channel, ChannelBins, Encoding, FleetId, Layout, PackError, Places, StepDigits, StreamProfile, SumsPart,
};
use sotto_rlwe::{KeyId, ParameterId};

use crate::compact::{CompactForm, MOST_PLACES};
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
// Flags of a header.
const SQUARES: u8 = 1;
const FLEET: u8 = 2;
const BINS: u8 = 4;
/// Marks a stream of slots that hold whole steps.
const STEPS: u8 = 1;

/// The description of a stream of compact windows: device, key, channels and form. Two headers are equal if their bytes
/// are.
///
/// ```
/// use sotto_pack::{Channel, Places};
/// use sotto_rlwe::{KeyId, ParameterId};
/// use sotto_wire::{StreamHeader, StreamId, StreamParts, StreamTag, WindowValues};
///
/// let boiler = Channel {
///     name: "boiler".into(),
///     unit: "°C".into(),
///     minimum: -20.0,
///     maximum: 120.0,
///     resolution: Some(0.1),
/// };
/// let stream = StreamHeader::new(StreamParts {
///     device: "cellar".into(),
///     stream: "boiler".into(),
///     parameters: ParameterId([1; 32]),
///     key: KeyId([2; 16]),
///     period: 60_000,
///     ticks: 24,
///     channels: vec![boiler],
///     values: WindowValues::Places(Places { width: 16, ..Places::default() }),
///     fleet: None,
/// })?;
/// assert_eq!(stream.form(24)?.places, 24);
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
    pub(crate) period: u32,
    pub(crate) layout: Layout,
    pub(crate) values: WindowValues,
    pub(crate) fleet: Option<FleetId>,
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
    /// The key that decrypts sums of the windows.
    pub key: KeyId,
    /// Milliseconds between ticks, at least 1.
    pub period: u32,
    /// Largest number of ticks of a window.
    pub ticks: u32,
    /// The channels. In a stream of places each needs a resolution.
    pub channels: Vec<Channel>,
    /// The kind of values in a window.
    pub values: WindowValues,
    /// The fleet whose masks the windows may share. Must be None for windows of slots.
    pub fleet: Option<FleetId>,
}

/// The kind of values that a stream's windows hold, and their encryption.
///
/// Example: [`StreamHeader`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowValues {
    /// Whole numbers at places, in a rounded BFV ciphertext: for sums.
    Places(Places),
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
            Self::Places(_) | Self::Sums(_) => Layout::of_sums(channels, ticks),
            Self::Slots(slots) => Layout::smallest(channels, ticks, *slots, 1, Encoding::Real),
            Self::Steps(slots) => Layout::of_steps(&channels, ticks, *slots),
        }
    }
}

impl WindowValues {
    /// Returns the values of a stream with this profile. Returns None for whole ciphertexts.
    fn of_profile(profile: &StreamProfile) -> Option<Self> {
        let slots = |slots| match profile.encoding {
            Encoding::Resolution => Self::Steps(slots),
            _ => Self::Slots(slots),
        };
        profile.compact.clone().map(Self::Places).or(profile.slots.map(slots))
    }
}

impl StreamHeader {
    /// Makes a header of these parts.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid, the period is 0, a channel lacks a resolution, there are more than
    /// [`MOST_PLACES`] places, a place does not have 2 to 64 bits, or the number of slots is not a power of two.
    pub fn new(parts: StreamParts) -> Result<Self, WireError> {
        let StreamParts { device, stream, parameters, key, period, ticks, channels, values, fleet } = parts;
        if period == 0 {
            return Err(WireError::Value("the period of a stream is at least 1 ms"));
        }
        let layout = values
            .layout(channels, ticks)
            .map_err(|_| WireError::Value("the channels of the stream have no compact form"))?;
        match &values {
            WindowValues::Places(places) if !places.is_for(layout.channels().len()) => {
                return Err(WireError::Value("the columns of the stream are not those of its channels"));
            }
            WindowValues::Places(places) => drop(form(&layout, parameters, key, places, ticks)?),
            WindowValues::Slots(slots) | WindowValues::Steps(slots)
                if !(slots.is_power_of_two() && (2..=MOST_SLOTS).contains(slots)) =>
            {
                return Err(WireError::Value("slots are a power of two from 2 to 65536"));
            }
            WindowValues::Slots(_) | WindowValues::Steps(_) if fleet.is_some() => {
                return Err(WireError::Value("windows of slots are of no fleet"));
            }
            WindowValues::Steps(_) if StepDigits::of(&layout).is_none() => {
                return Err(WireError::Value("a channel of a stream of steps has at most 4096 steps"));
            }
            WindowValues::Sums(_) => return Err(WireError::Value("a stream of sums has no parameters")),
            WindowValues::Slots(_) | WindowValues::Steps(_) => {}
        }
        let (payload, id) = (Vec::new(), StreamId([0; 32]));
        let sums = None;
        let mut header =
            Self { device, stream, parameters, key, period, layout, values, fleet, sums, payload, id };
        header.payload = header.bytes()?;
        header.id = StreamId(derived(ID_CONTEXT, [&header.payload[..]]));
        Ok(header)
    }

    /// Makes the header of a stream from a device's profile. Returns None if the stream's envelopes are of version 1.
    ///
    /// `period` is the device's period in milliseconds, for streams without one of their own.
    ///
    /// # Errors
    /// Those of [`StreamHeader::new`].
    pub fn of_profile(
        device: &str,
        period: u32,
        profile: &StreamProfile,
        parameters: ParameterId,
        key: KeyId,
    ) -> Result<Option<Self>, WireError> {
        let Some(values) = WindowValues::of_profile(profile).filter(|_| profile.envelope == 2) else {
            return Ok(None);
        };
        let parts = StreamParts {
            device: device.to_owned(),
            stream: profile.stream.clone(),
            parameters,
            key,
            period: profile.period_ms.unwrap_or(period),
            ticks: profile.ticks,
            channels: profile.channels.clone(),
            values,
            fleet: profile.fleet,
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

    /// Returns the key that decrypts sums of the windows.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns the milliseconds between ticks.
    #[must_use]
    pub fn period(&self) -> u32 {
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

    /// Returns the fleet whose masks the stream's windows may share.
    #[must_use]
    pub fn fleet(&self) -> Option<FleetId> {
        self.fleet
    }

    /// Returns the bytes that all streams of a fleet share: parameters, period, ticks, channels and columns. Streams
    /// whose bytes differ cannot be summed together.
    #[must_use]
    pub fn common(&self) -> Vec<u8> {
        let names = 2 + self.device.len() + self.stream.len();
        let (parameters, rest) = self.payload[names..].split_at(32);
        [parameters, &rest[16..]].concat()
    }

    /// Returns the number of places per transmitted tick (readings, squares and products), or 0 for windows of slots.
    #[must_use]
    pub fn places_a_tick(&self) -> usize {
        match &self.values {
            WindowValues::Places(places) => places.columns(self.layout.channels().len()),
            WindowValues::Slots(_) | WindowValues::Steps(_) | WindowValues::Sums(_) => 0,
        }
    }

    /// Returns the form of a window that sends `ticks` ticks.
    ///
    /// # Errors
    /// [`WireError::Value`] if a window of the stream cannot have this number of ticks, or if the stream is one of
    /// slots.
    pub fn form(&self, ticks: u32) -> Result<CompactForm, WireError> {
        match &self.values {
            WindowValues::Places(places) => form(&self.layout, self.parameters, self.key, places, ticks),
            WindowValues::Slots(_) | WindowValues::Steps(_) | WindowValues::Sums(_) => {
                Err(WireError::Value("windows of slots have no places"))
            }
        }
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
        out.extend_from_slice(&self.period.to_le_bytes());
        out.extend_from_slice(&self.layout.ticks().to_le_bytes());
        match &self.values {
            WindowValues::Places(places) => {
                let flag = |set: bool, flag: u8| if set { flag } else { 0 };
                let bins = flag(!places.bins.is_empty(), BINS);
                let flags = flag(places.squares, SQUARES) | flag(self.fleet.is_some(), FLEET) | bins;
                // `form` and `is_for` checked them: the width is below 2^8, and there are at most 4,096 of each.
                out.extend_from_slice(&[places.width as u8, flags]);
                out.extend_from_slice(&(places.products.len() as u16).to_le_bytes());
                for (x, y) in &places.products {
                    out.extend_from_slice(&x.to_le_bytes());
                    out.extend_from_slice(&y.to_le_bytes());
                }
                write_bins(&mut out, &places.bins);
            }
            // A width of 0 marks slots: no place has 0 bits.
            WindowValues::Slots(slots) => out.extend_from_slice(&[0, slots.ilog2() as u8, 0, 0]),
            WindowValues::Steps(slots) => out.extend_from_slice(&[0, slots.ilog2() as u8, STEPS, 0]),
            // Written by `sums`.
            WindowValues::Sums(_) => {}
        }
        out.extend(self.fleet.iter().flat_map(|fleet| fleet.0));
        out.extend_from_slice(&(self.layout.channels().len() as u16).to_le_bytes());
        self.layout.channels().iter().try_for_each(|channel| write_channel(&mut out, channel))?;
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
    /// [`WireError`] if the bytes are not a frame of a stream's header.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
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
        let (values, fleet) = read_values(reader)?;
        // A channel takes at least 26 bytes: two texts of one byte or more, and three numbers.
        let channels = counted(reader, 26)?.map(|_| channel(reader)).collect::<Result<_, _>>()?;
        let parts = StreamParts { device, stream, parameters, key, period, ticks, channels, values, fleet };
        let read = Self::new(parts)?;
        // The encoding is canonical; a negative zero, for example, would be a second form.
        if read.payload != before[..before.len() - reader.left()] {
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

/// Returns the form of a window of places that sends `ticks` ticks.
fn form(
    layout: &Layout,
    parameters: ParameterId,
    key: KeyId,
    columns: &Places,
    ticks: u32,
) -> Result<CompactForm, WireError> {
    let places = columns.count(layout, ticks);
    match (u16::try_from(places), u8::try_from(columns.width)) {
        (Ok(places), Ok(width)) if usize::from(places) <= MOST_PLACES => {
            let form = CompactForm { parameters, key, places, width };
            form.check().map(|()| form)
        }
        _ => Err(WireError::Value("a compact form has 1 to 4096 places of 2 to 64 bits")),
    }
}

fn read_values(reader: &mut Reader<'_>) -> Result<(WindowValues, Option<FleetId>), WireError> {
    let width = u32::from(reader.u8()?);
    if width == 0 {
        let [log2, values, none] = reader.array()?;
        let slots = 1_u32.checked_shl(log2.into());
        let slots = slots.ok_or(WireError::Value("slots are a power of two from 2 to 65536"))?;
        return match (values, none) {
            (0, 0) => Ok((WindowValues::Slots(slots), None)),
            (STEPS, 0) => Ok((WindowValues::Steps(slots), None)),
            _ => Err(WireError::Value("a stream of slots has reals, 0, or steps, 1")),
        };
    }
    let flags = reader.u8()?;
    if flags & !(SQUARES | FLEET | BINS) != 0 {
        return Err(WireError::Value("the flags of a stream are 1, squares, 2, a fleet, and 4, bins"));
    }
    let squares = flags & SQUARES != 0;
    let products: Vec<(u16, u16)> =
        counted(reader, 4)?.map(|_| Ok((reader.u16()?, reader.u16()?))).collect::<Result<_, WireError>>()?;
    let bins = if flags & BINS == 0 { Vec::new() } else { read_bins(reader)? };
    let fleet = if flags & FLEET == 0 { None } else { Some(FleetId(reader.array()?)) };
    Ok((WindowValues::Places(Places { width, squares, products, bins }), fleet))
}

/// Writes the bins of channels; nothing if there are none, so that earlier headers keep their bytes.
fn write_bins(out: &mut Vec<u8>, bins: &[ChannelBins]) {
    if bins.is_empty() {
        return;
    }
    // `is_for` checked them: at most 4,096 channels of at most 1,024 bins.
    out.extend_from_slice(&(bins.len() as u16).to_le_bytes());
    for ChannelBins { channel, edges } in bins {
        out.extend_from_slice(&channel.to_le_bytes());
        out.extend_from_slice(&(edges.len() as u16).to_le_bytes());
        out.extend(edges.iter().flat_map(|edge| edge.to_le_bytes()));
    }
}

fn read_bins(reader: &mut Reader<'_>) -> Result<Vec<ChannelBins>, WireError> {
    let of_channel = |reader: &mut Reader<'_>| {
        let channel = reader.u16()?;
        let edges = counted(reader, 8)?.map(|_| reader.i64()).collect::<Result<_, _>>()?;
        Ok(ChannelBins { channel, edges })
    };
    // A channel takes at least 4 bytes.
    counted(reader, 4)?.map(|_| of_channel(reader)).collect()
}

/// Reads a count of two bytes and checks that the remaining bytes suffice for as many items of `bytes` bytes.
pub(crate) fn counted(reader: &mut Reader<'_>, bytes: usize) -> Result<core::ops::Range<u16>, WireError> {
    let count = reader.u16()?;
    let expected = usize::from(count) * bytes;
    if reader.left() < expected {
        return Err(WireError::Truncated { expected: expected as u64, found: reader.left() as u64 });
    }
    Ok(0..count)
}

pub(crate) fn write_channel(out: &mut Vec<u8>, channel: &Channel) -> Result<(), WireError> {
    let Channel { name, unit, minimum, maximum, resolution } = channel;
    write_text(out, name)?;
    write_text(out, unit)?;
    for number in [*minimum, *maximum, resolution.unwrap_or_default()] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    Ok(())
}

pub(crate) fn channel(reader: &mut Reader<'_>) -> Result<Channel, WireError> {
    let (name, unit) = (reader.text()?, reader.text()?);
    let (minimum, maximum, resolution) = (reader.f64()?, reader.f64()?, reader.f64()?);
    // 0 stands for a channel without a resolution.
    let resolution = (resolution != 0.0).then_some(resolution);
    Ok(Channel { name, unit, minimum, maximum, resolution })
}

fn write_text(out: &mut Vec<u8>, text: &str) -> Result<(), WireError> {
    let length = u8::try_from(text.len()).map_err(|_| WireError::Value("a text has at most 255 bytes"))?;
    out.push(length);
    out.extend_from_slice(text.as_bytes());
    Ok(())
}
