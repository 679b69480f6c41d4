//! The streams of a profile, ready to encrypt windows.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_pack::{
    Channel, Cut, DescriptionError, DeviceProfile, Layout, LeftOut, PackError, Presence, ProfileError,
    StreamProfile, WindowDescription,
};
use sotto_wire::{LARGEST_LAYOUT, StreamHeader, WireError, read_parameters};

use crate::encrypt::{DeviceKey, EncryptError, Encryptor, encryptor};
use crate::spool::Cuts;

/// Maximum bytes of an envelope without the ciphertext and the window's description.
const ENVELOPE_BYTES: usize = 1024;

/// A stream with the layout and the encryptor of its windows.
pub struct Stream {
    /// The stream's name.
    pub name: String,
    /// The layout of the windows.
    pub layout: Layout,
    /// The encryptor of the windows.
    pub encryptor: Box<dyn Encryptor>,
    /// The stream's header, for envelopes of version 2.
    pub header: Option<Arc<StreamHeader>>,
}

/// A stream of a profile that is refused.
#[derive(Debug, thiserror::Error)]
#[error("stream {stream}: {reason}")]
pub struct StreamError {
    /// The stream.
    pub stream: String,
    /// The reason.
    pub reason: Refused,
}

/// Reason why a stream of a profile is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The parameters are not a valid frame.
    #[error("its parameters cannot be read: {0}")]
    Wire(#[from] WireError),
    /// The parameters are not hexadecimal.
    #[error("its parameters are not hexadecimal")]
    Hexadecimal(#[from] hex::FromHexError),
    /// The channels do not fit the parameters.
    #[error(transparent)]
    Layout(#[from] PackError),
    /// The stream has no span, while other streams of the device follow the clock.
    #[error("it has no span: give every stream of the device one, such as \"day\"")]
    NoSpan,
    /// The description of its windows would be too long.
    #[error("{0}, or fewer ticks")]
    Description(#[from] DescriptionError),
    /// The stream cannot be encrypted.
    #[error(transparent)]
    Encrypt(#[from] EncryptError),
}

/// Returns true if the windows of a profile follow the clock of the plant: a stream has a span or channels.
#[must_use]
pub fn follow_clock(profile: &DeviceProfile) -> bool {
    profile.streams.iter().any(|stream| stream.span.is_some() || !stream.channels.is_empty())
}

/// Returns the cuts of the profile's streams that have a span.
///
/// # Errors
/// [`ProfileError::Zone`] if the time zone is unknown.
pub fn cuts(profile: &DeviceProfile) -> Result<Cuts, ProfileError> {
    let cut = |stream: &StreamProfile| {
        let period = stream.period_ms.unwrap_or(profile.period_ms);
        Some((stream.stream.clone(), Cut { span: stream.span?, period, ticks: stream.ticks }))
    };
    let cuts: BTreeMap<String, Cut> = profile.streams.iter().filter_map(cut).collect();
    Ok(Cuts::new(profile.clock()?, cuts))
}

/// Opens the streams of a profile. A stream that declares no channels takes `channels`. Refuses everything that can be
/// refused before any row is read.
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

    /// Returns true if the stream's windows may share the masks of a fleet.
    #[must_use]
    pub fn is_of_fleet(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.fleet().is_some())
    }

    /// Returns the maximum bytes of a message of this stream.
    #[must_use]
    pub fn message_bytes(&self) -> u64 {
        (self.encryptor.frame_bytes() + LARGEST_LAYOUT + ENVELOPE_BYTES) as u64
    }
}

/// Returns the longest possible description of a layout's windows, without counts of readings left out: those are
/// dropped if they do not fit.
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
