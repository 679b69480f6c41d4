//! The streams of a profile, ready to take windows.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_pack::{
    Channel, Cut, DescriptionError, DeviceProfile, Layout, LeftOut, PackError, Presence, ProfileError,
    StreamProfile, WindowDescription,
};
use sotto_wire::{LARGEST_LAYOUT, StreamHeader, WireError, read_parameters};

use crate::encrypt::{DeviceKey, EncryptError, Encryptor, encryptor};
use crate::spool::Cuts;

/// Most bytes of an envelope beside the ciphertext and the description of the window.
const ENVELOPE_BYTES: usize = 1024;

/// A stream: the layout of its windows, and their encryptor.
pub struct Stream {
    /// Its name.
    pub name: String,
    /// The layout of its windows.
    pub layout: Layout,
    /// Its encryptor.
    pub encryptor: Box<dyn Encryptor>,
    /// Its header, if its envelopes are of version 2.
    pub header: Option<Arc<StreamHeader>>,
}

/// Why a stream of a profile cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("stream {stream}: {reason}")]
pub struct StreamError {
    /// The stream.
    pub stream: String,
    /// Why.
    pub reason: Refused,
}

/// Why a stream of a profile cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The parameters are no frame.
    #[error("its parameters cannot be read: {0}")]
    Wire(#[from] WireError),
    /// They are not hexadecimal.
    #[error("its parameters are not hexadecimal")]
    Hexadecimal(#[from] hex::FromHexError),
    /// The channels do not fit.
    #[error(transparent)]
    Layout(#[from] PackError),
    /// A stream of a device whose other streams follow the clock does not.
    #[error("it has no span: give every stream of the device one, such as \"day\"")]
    NoSpan,
    /// The description of its windows would be too long.
    #[error("{0}, or fewer ticks")]
    Description(#[from] DescriptionError),
    /// It cannot be encrypted.
    #[error(transparent)]
    Encrypt(#[from] EncryptError),
}

/// True if the windows of a profile follow the clock of the plant: if a stream of it has a span or channels.
#[must_use]
pub fn follow_clock(profile: &DeviceProfile) -> bool {
    profile.streams.iter().any(|stream| stream.span.is_some() || !stream.channels.is_empty())
}

/// How the streams of a profile are cut into windows: those that have a span.
///
/// # Errors
/// [`ProfileError::Zone`] when the zone is not known.
pub fn cuts(profile: &DeviceProfile) -> Result<Cuts, ProfileError> {
    let cut = |stream: &StreamProfile| {
        let period = stream.period_ms.unwrap_or(profile.period_ms);
        Some((stream.stream.clone(), Cut { span: stream.span?, period, ticks: stream.ticks }))
    };
    let cuts: BTreeMap<String, Cut> = profile.streams.iter().filter_map(cut).collect();
    Ok(Cuts::new(profile.clock()?, cuts))
}

/// The streams of a profile for these channels, which those take that have none of their own. Everything that can be refused is refused now, before anything is read.
///
/// # Errors
/// [`StreamError`] names the stream and the reason.
pub fn open(
    profile: &DeviceProfile,
    channels: &[Channel],
    key: &DeviceKey,
) -> Result<Vec<Stream>, StreamError> {
    let clocked = follow_clock(profile);
    let open = |stream: &StreamProfile| {
        Stream::open(profile, stream, channels, key, clocked)
            .map_err(|reason| StreamError { stream: stream.stream.clone(), reason })
    };
    profile.streams.iter().map(open).collect()
}

impl Stream {
    fn open(
        device: &DeviceProfile,
        profile: &StreamProfile,
        channels: &[Channel],
        key: &DeviceKey,
        clocked: bool,
    ) -> Result<Self, Refused> {
        if clocked && profile.span.is_none() {
            return Err(Refused::NoSpan);
        }
        let channels = if profile.channels.is_empty() { channels } else { &profile.channels };
        let spec = read_parameters(&hex::decode(&profile.parameters)?)?;
        let encryptor = encryptor(profile, spec, key)?;
        let (rows, columns) = encryptor.slot_shape();
        let layout = Layout::smallest(channels.to_vec(), profile.ticks, columns, rows, profile.encoding)?;
        encryptor.check(&layout)?;
        if clocked {
            longest_description(&layout).to_json()?;
        }
        let key = (encryptor.parameters(), encryptor.key());
        let header = StreamHeader::of_profile(&device.device, device.period_ms, profile, key)?.map(Arc::new);
        Ok(Self { name: profile.stream.clone(), layout, encryptor, header })
    }

    /// True if the stream's windows may share the masks of a fleet.
    #[must_use]
    pub fn is_of_fleet(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.fleet().is_some())
    }

    /// The most bytes that a message of this stream can have.
    #[must_use]
    pub fn message_bytes(&self) -> u64 {
        (self.encryptor.frame_bytes() + LARGEST_LAYOUT + ENVELOPE_BYTES) as u64
    }
}

/// A description as long as those of a layout get, without the counts of readings left out: these are dropped where they do not fit.
fn longest_description(layout: &Layout) -> WindowDescription {
    let (ticks, channels) = (layout.ticks(), layout.channels().len());
    let presence = Presence::first(ticks);
    WindowDescription {
        layout: layout.clone(),
        present: vec![ticks; channels],
        start: i64::MIN,
        period: u32::MAX,
        length: ticks,
        presence: vec![presence; channels],
        left_out: Vec::<LeftOut>::new(),
        generated: true,
    }
}
