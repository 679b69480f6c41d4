//! The keys with which the cloud signs, as the owner pinned them.

use sotto_wire::{StreamHead, Transcript};

use super::lie::Lie;
use crate::error::OwnerError;
use crate::plant::Plant;
use crate::settings::SettingsError;

/// The pinned Ed25519 keys of a cloud, the present one first. Earlier ones stay: what was signed with them stays good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloudKeys(Vec<[u8; 32]>);

impl CloudKeys {
    /// Reads keys in hexadecimal.
    pub(super) fn parse(keys: &[String]) -> Result<Self, OwnerError> {
        let wrong = |text: &String| {
            SettingsError::Toml(format!("cloud.keys: {text:?} is no key: 64 hexadecimal digits"))
        };
        let read = |text: &String| key(text).ok_or_else(|| wrong(text));
        Ok(Self(keys.iter().map(read).collect::<Result<_, _>>()?))
    }

    /// True if no key is pinned: the cloud's signatures show nothing to others then.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys in hexadecimal.
    #[must_use]
    pub fn shown(&self) -> Vec<String> {
        self.0.iter().map(hex::encode).collect()
    }

    /// Refuses the head of a log that a pinned key did not sign.
    pub(crate) fn check_head(&self, head: &StreamHead) -> Result<(), Lie> {
        head.verify().map_err(|_| Lie::ForgedSignature { what: "the head of a log" })?;
        self.check("the head of a log", &head.cloud)
    }

    /// Refuses a transcript that a pinned key did not sign.
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

impl Plant {
    /// The keys of the cloud that are pinned in `sotto.toml`.
    ///
    /// # Errors
    /// One of them is no key.
    pub fn cloud_keys(&self) -> Result<CloudKeys, OwnerError> {
        CloudKeys::parse(&self.settings().cloud.keys)
    }

    /// Pins a key of the cloud, 64 hexadecimal digits. It becomes the present one; earlier ones stay pinned.
    ///
    /// # Errors
    /// It is no key, or `sotto.toml` cannot be written.
    pub fn pin_cloud(&mut self, text: &str) -> Result<(), OwnerError> {
        let Some(key) = key(text.trim()) else {
            return Err(OwnerError::Question(format!(
                "{text:?} is no key: `sotto-cloud key` prints 64 hexadecimal digits"
            )));
        };
        self.edit(|document| {
            crate::edit::pin_cloud(document, &hex::encode(key));
            Ok(())
        })
    }

    /// The key with which the cloud says that it signs, in hexadecimal. Its word alone.
    ///
    /// # Errors
    /// The cloud is away or refuses.
    pub fn claimed_cloud_key(&self) -> Result<String, OwnerError> {
        Ok(hex::encode(self.cloud()?.identity()?))
    }
}
