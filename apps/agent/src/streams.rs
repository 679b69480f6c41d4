//! The streams of a profile, ready to encrypt windows.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_keys::DeviceKeys;
use sotto_pack::{
    Cut, DescriptionError, DeviceProfile, Layout, PackError, ProfileError, StreamProfile, WindowDescription,
};
use sotto_wire::{LARGEST_LAYOUT, StreamHeader, WireError, read_parameters};

use crate::encrypt::{EncryptError, Encryption, SumsEncryptor, encryptor};
use crate::spool::Cuts;

/// Maximum bytes of an envelope without its body, the window's description, and the header of a stream of sums.
const ENVELOPE_BYTES: usize = 1024;

/// A stream with the layout and the encryption of its windows.
pub struct Stream {
    /// The stream's name.
    pub name: String,
    /// The layout of the windows.
    pub layout: Layout,
    /// The encryption of the windows.
    pub encryption: Encryption,
    /// The maximum bytes of a message in the spool.
    pub message_bytes: u64,
}

/// A stream of a profile that is refused.
#[derive(Debug, thiserror::Error)]
#[error("stream {stream}: {reason}")]
pub struct StreamError {
    /// The stream's name.
    pub stream: String,
    /// The first fault found.
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
    /// The stream has no span or no channels, as streams of old bundles.
    #[error("it has no {0}: make a new bundle for the device with `sotto device renew`")]
    Lacks(&'static str),
    /// Its compact windows have no stream header, as streams of old bundles.
    #[error(
        "its compact windows need version 2 of the envelope: make a new bundle for the device with `sotto device renew`"
    )]
    FirstEnvelope,
    /// Its windows are places, the form of exact streams of earlier versions.
    #[error(
        "its windows are places, which are not sent any more: make a new bundle for the device with `sotto device renew`"
    )]
    Places,
    /// The description of its windows would be too long.
    #[error("{0}, or fewer ticks")]
    Description(#[from] DescriptionError),
    /// The stream cannot be encrypted.
    #[error(transparent)]
    Encrypt(#[from] EncryptError),
}

/// Returns the cuts of the profile's streams.
///
/// # Errors
/// [`ProfileError::Zone`] if the time zone is unknown.
pub fn cuts(profile: &DeviceProfile) -> Result<Cuts, ProfileError> {
    let cut = |stream: &StreamProfile| Some((stream.stream.clone(), stream.cut(profile.period_ms)?));
    let cuts: BTreeMap<String, Cut> = profile.streams.iter().filter_map(cut).collect();
    Ok(Cuts::new(profile.clock()?, cuts))
}

/// Opens the streams of a profile. Refuses everything that can be refused before any row is read.
///
/// # Errors
/// [`StreamError`] names the stream and the reason.
pub fn open(profile: &DeviceProfile, keys: &DeviceKeys) -> Result<Vec<Stream>, StreamError> {
    let open = |stream: &StreamProfile| {
        Stream::open(profile, stream, keys)
            .map_err(|reason| StreamError { stream: stream.stream.clone(), reason })
    };
    profile.streams.iter().map(open).collect()
}

impl Stream {
    /// Returns true if a reading may change the values of other ticks, or of another channel: readings that were
    /// sent are kept for a while, and their windows are made again.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        let products = match &self.encryption {
            Encryption::Ciphertexts { .. } => false,
            Encryption::Sums(sums) => {
                let quantities = sums.header().parts().iter().flat_map(|part| &part.quantities);
                let mut columns = quantities.map(|placed| placed.quantity.columns());
                columns.any(|(first, second)| first != second)
            }
        };
        products || self.layout.channels().iter().any(|channel| channel.kind.rules().is_joined())
    }

    /// Returns true if its windows count the readings that were rounded.
    #[must_use]
    pub fn counts_rounded(&self) -> bool {
        match &self.encryption {
            Encryption::Ciphertexts { .. } => false,
            Encryption::Sums(sums) => sums.header().counts_rounded(),
        }
    }

    fn open(device: &DeviceProfile, profile: &StreamProfile, keys: &DeviceKeys) -> Result<Self, Refused> {
        if profile.span.is_none() {
            return Err(Refused::Lacks("span"));
        }
        if profile.channels.is_empty() {
            return Err(Refused::Lacks("channels"));
        }
        let (layout, encryption, body_bytes) = if profile.sums.is_empty() {
            Self::of_ciphertexts(device, profile, keys)?
        } else {
            let sums = SumsEncryptor::new(&device.device, device.period_ms, profile, keys)?;
            let header = sums.header();
            let bytes = header.write().len() + header.parts_bytes(header.layout().ticks())?;
            (sums.layout().clone(), Encryption::Sums(Box::new(sums)), bytes)
        };
        WindowDescription::longest(&layout, profile.rounded).to_json()?;
        let message_bytes = (body_bytes + LARGEST_LAYOUT + ENVELOPE_BYTES) as u64;
        Ok(Self { name: profile.stream.clone(), layout, encryption, message_bytes })
    }

    /// Returns the layout, the encryption and the maximum bytes of a body of a stream of ciphertexts.
    fn of_ciphertexts(
        device: &DeviceProfile,
        profile: &StreamProfile,
        keys: &DeviceKeys,
    ) -> Result<(Layout, Encryption, usize), Refused> {
        if profile.compact.is_some() {
            return Err(Refused::Places);
        }
        let compact = profile.slots.is_some() && !profile.public;
        if compact && profile.envelope == 1 {
            return Err(Refused::FirstEnvelope);
        }
        let spec = read_parameters(&hex::decode(&profile.parameters)?)?;
        let encryptor = encryptor(profile, spec, keys)?;
        let (rows, columns) = encryptor.slot_shape();
        let channels = profile.channels.clone();
        let layout = Layout::smallest(channels, profile.ticks, columns, rows, profile.encoding)?;
        encryptor.check(&layout)?;
        let (parameters, key) = (encryptor.parameters(), encryptor.key());
        let header = StreamHeader::of_profile(&device.device, device.period_ms, profile, parameters, key)?;
        let bytes = encryptor.frame_bytes();
        Ok((layout, Encryption::Ciphertexts { encryptor, header: header.map(Arc::new) }, bytes))
    }
}
