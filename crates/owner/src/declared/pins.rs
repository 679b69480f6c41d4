//! The pinned keys with which the cloud signs.

use sotto_wire::{StreamHead, Transcript};

use super::edit;
use super::plant::Plant;
use super::settings::SettingsError;
use crate::error::OwnerError;
use crate::lie::Lie;

/// The pinned Ed25519 keys of a cloud, the present one first. Earlier ones stay pinned, because signatures with them
/// stay valid.
///
/// ```
/// use sotto_owner::CloudKeys;
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # let key = hex::encode(sotto_keys::SigningIdentity::from_bytes(&[7; 32]).verifying_key());
///
/// // `key` is the output of `sotto-cloud key`, 64 hexadecimal digits.
/// plant.pin_cloud(&key)?;
/// let keys: CloudKeys = plant.cloud_keys()?;
/// assert_eq!(keys.shown()[0], key); // then earlier keys
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloudKeys(Vec<[u8; 32]>);

impl CloudKeys {
    /// Reads keys in hexadecimal.
    pub(crate) fn parse(keys: &[String]) -> Result<Self, OwnerError> {
        let wrong = |text: &String| {
            SettingsError::Toml(format!("cloud.keys: {text:?} is no key: 64 hexadecimal digits"))
        };
        let read = |text: &String| key(text).ok_or_else(|| wrong(text));
        Ok(Self(keys.iter().map(read).collect::<Result<_, _>>()?))
    }

    /// Returns true if no key is pinned. Then the cloud's signatures prove nothing to others.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the keys in hexadecimal.
    #[must_use]
    pub fn shown(&self) -> Vec<String> {
        self.0.iter().map(hex::encode).collect()
    }

    /// Refuses the head of a log unless a pinned key signed it.
    pub(crate) fn check_head(&self, head: &StreamHead) -> Result<(), Lie> {
        head.verify().map_err(|_| Lie::ForgedSignature { what: "the head of a log" })?;
        self.check("the head of a log", &head.cloud)
    }

    /// Refuses a transcript unless a pinned key signed it.
    pub(crate) fn check_transcript(&self, transcript: &Transcript) -> Result<(), Lie> {
        transcript.verify().map_err(|_| Lie::ForgedSignature { what: "the transcript" })?;
        self.check("the transcript", &transcript.parts().cloud)
    }

    fn check(&self, what: &'static str, key: &[u8; 32]) -> Result<(), Lie> {
        if self.0.is_empty() || self.0.contains(key) {
            return Ok(());
        }
        Err(Lie::OtherCloud { what, found: hex::encode(key) })
    }
}

/// Reads a key in hexadecimal.
fn key(text: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    hex::decode_to_slice(text, &mut key).ok().map(|()| key)
}

/// Returns the keys of the cloud that are pinned in `sotto.toml`.
pub(crate) fn cloud_keys(plant: &Plant) -> Result<CloudKeys, OwnerError> {
    CloudKeys::parse(&plant.settings().cloud.keys)
}

/// Pins a key of the cloud, 64 hexadecimal digits, as the present one. Earlier keys stay pinned.
pub(crate) fn pin_cloud(plant: &mut Plant, text: &str) -> Result<(), OwnerError> {
    let Some(key) = key(text.trim()) else {
        return Err(OwnerError::Question(format!(
            "{text:?} is no key: `sotto-cloud key` prints 64 hexadecimal digits"
        )));
    };
    plant.edit(|document| {
        edit::pin_cloud(document, &hex::encode(key));
        Ok(())
    })
}

/// Returns a note if no key of the cloud is pinned.
pub(crate) fn not_pinned(plant: &Plant) -> Option<String> {
    plant.settings().cloud.keys.is_empty().then(|| {
        "no key of the cloud is pinned, so whatever answers at its address passes for it: `sotto-cloud key` on its machine prints the \
         key, `sotto cloud pin KEY` pins it"
            .to_owned()
    })
}

/// Returns the key that the cloud claims to sign with, in hexadecimal. The claim proves nothing.
pub(crate) fn claimed_cloud_key(plant: &Plant) -> Result<String, OwnerError> {
    Ok(hex::encode(plant.cloud()?.identity()?))
}
