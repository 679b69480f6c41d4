//! The one file that a device needs: its secrets, the address of its cloud, and its profile.

use std::path::Path;

use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use crate::file::{KeyFile, KeyFileError, Protection};
use crate::{DeviceSecret, SigningIdentity};

/// The longest address of a cloud: 2 KiB.
pub const LONGEST_CLOUD: usize = 2 << 10;
/// The longest profile: 1 MiB.
pub const LONGEST_PROFILE: usize = 1 << 20;
/// Bytes before the address: two secrets and the address's length.
const HEAD: usize = 32 + 32 + 4;

/// Everything that a device is given when it is enrolled. A copy of the file is enough to read all data of the device and to send in its
/// name.
pub struct DeviceBundle {
    /// From which the device's secret keys are derived.
    pub secret: DeviceSecret,
    /// With which the device signs.
    pub identity: SigningIdentity,
    /// Where the device sends: an address of at most [`LONGEST_CLOUD`] bytes.
    pub cloud: String,
    /// The device's profile as JSON, at most [`LONGEST_PROFILE`] bytes. It is not read here.
    pub profile: Vec<u8>,
}

impl DeviceBundle {
    /// The longest content of the file.
    pub(crate) const LONGEST: usize = HEAD + LONGEST_CLOUD + LONGEST_PROFILE;

    /// Writes a new file with mode 0600; an existing file is never overwritten.
    ///
    /// # Errors
    /// [`KeyFileError`] when the address or the profile is too long, or the file cannot be written.
    pub fn write(
        &self,
        path: &Path,
        protection: &Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<(), KeyFileError> {
        let (cloud, profile) = (self.cloud.as_bytes(), &self.profile);
        if cloud.len() > LONGEST_CLOUD || profile.len() > LONGEST_PROFILE {
            return Err(damaged(path, "cannot be written: the address or the profile is too long"));
        }
        let mut content = Zeroizing::new(Vec::with_capacity(HEAD + cloud.len() + profile.len()));
        content.extend_from_slice(self.secret.expose_secret_bytes());
        content.extend_from_slice(self.identity.expose_secret_bytes());
        content.extend_from_slice(&(cloud.len() as u32).to_le_bytes());
        content.extend_from_slice(cloud);
        content.extend_from_slice(profile);
        KeyFile::Bundle.write_secret(path, &content, protection, rng)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`KeyFileError`] when it cannot be read, others may read it, or it is no undamaged bundle.
    pub fn read(path: &Path, passphrase: Option<&str>) -> Result<Self, KeyFileError> {
        Self::parse_content(&KeyFile::Bundle.read_secret(path, passphrase)?, path)
    }

    /// The bundle in the bytes of a file; `path` names the file in errors.
    ///
    /// # Errors
    /// As [`DeviceBundle::read`].
    pub fn parse(bytes: &[u8], path: &Path, passphrase: Option<&str>) -> Result<Self, KeyFileError> {
        Self::parse_content(&KeyFile::Bundle.parse_secret(bytes, path, passphrase)?, path)
    }

    fn parse_content(content: &[u8], path: &Path) -> Result<Self, KeyFileError> {
        let cut = || damaged(path, "is damaged: it ends too early");
        let (secret, rest) = content.split_first_chunk::<32>().ok_or_else(cut)?;
        let (identity, rest) = rest.split_first_chunk::<32>().ok_or_else(cut)?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        let length = u32::from_le_bytes(*length) as usize;
        if length > LONGEST_CLOUD {
            return Err(damaged(path, "is damaged: the cloud's address is too long"));
        }
        let (cloud, profile) = rest.split_at_checked(length).ok_or_else(cut)?;
        let cloud =
            core::str::from_utf8(cloud).map_err(|_| damaged(path, "is damaged: the address is no text"))?;
        Ok(Self {
            secret: DeviceSecret::from_bytes(secret),
            identity: SigningIdentity::from_bytes(identity),
            cloud: cloud.to_owned(),
            profile: profile.to_vec(),
        })
    }
}

fn damaged(path: &Path, reason: &'static str) -> KeyFileError {
    KeyFileError::Damaged { path: path.display().to_string(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_comes_back_as_it_was_and_a_part_of_one_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("boiler.bundle");
        let mut rng = sotto_ring::secure_rng().expect("randomness");
        let bundle = DeviceBundle {
            secret: DeviceSecret::from_bytes(&[1; 32]),
            identity: SigningIdentity::from_bytes(&[2; 32]),
            cloud: "http://127.0.0.1:7410".into(),
            profile: b"{}".to_vec(),
        };
        bundle.write(&path, &Protection::FileMode, &mut rng).expect("written");
        assert!(bundle.write(&path, &Protection::FileMode, &mut rng).is_err(), "overwritten");
        let read = DeviceBundle::read(&path, None).expect("read");
        assert_eq!(read.secret.expose_secret_bytes(), &[1; 32]);
        assert_eq!(read.identity.verifying_key(), bundle.identity.verifying_key());
        assert_eq!((read.cloud, read.profile), (bundle.cloud, bundle.profile));
        let bytes = std::fs::read(&path).expect("read");
        for length in 0..bytes.len() {
            assert!(DeviceBundle::parse(&bytes[..length], &path, None).is_err(), "{length}");
        }
        assert!(KeyFile::Device.read(&path, None).is_err(), "another kind");
    }
}
