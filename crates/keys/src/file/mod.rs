//! Key files: mode 0600, with or without a passphrase.
//!
//! A file is `magic ‖ version ‖ kind ‖ protection ‖ …`. The byte `protection` is:
//!
//! - 0: the secret bytes follow in the clear (32 bytes for device secrets and signing identities, more for
//!   other kinds);
//! - 2: the cost of Argon2id (memory in KiB, passes, lanes, a little-endian `u32` each), a salt, a nonce, and
//!   the secret bytes encrypted by XChaCha20-Poly1305 with all bytes before as associated data;
//! - 1, of earlier versions: like 2 without the cost, which is 64 MiB, 3 passes and 1 lane;
//! - 3: the public name of a plant's key (16 bytes), a nonce, and the secret bytes encrypted by XChaCha20-Poly1305 under a
//!   key derived from the plant's, with all bytes before and the secret's name as associated data.
//!
//! A file of the kind [`KeyFile::Plant`] has the plant key's public name between the byte `protection` and what follows.
//!
//! The last 32 bytes are a BLAKE3 digest of all bytes before, to tell damage from a wrong passphrase. An
//! attacker who can write the file can replace it by an unprotected secret of their own; so a file without
//! protection is refused if a passphrase or a plant's key is given.

mod cost;
mod format;
mod private;

use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use std::io;
use std::path::Path;

use sotto_ring::SecretRng;
use zeroize::Zeroizing;

pub use private::make_private;
/// Place of the name in a file of the kind `Plant`.
pub(crate) const NAME_AT: usize = format::HEADER;
pub(crate) use private::read_private;

#[cfg(feature = "partial")]
use crate::lengths::LONGEST_RECRYPTOR;
use crate::lengths::{
    LONGEST_BUNDLE, LONGEST_BUNDLE_WITH_AUTHORITY, LONGEST_BUNDLE_WITH_PUBLIC_KEYS, LONGEST_DOCUMENT,
};
use crate::plant_key::{PlantKey, PlantKeyName};

/// The kind of content of a key file.
///
/// ```
/// use sotto_keys::{KeyFile, KeyFileError, Protection};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("owner.key");
/// let mut rng = sotto_ring::secure_rng()?;
/// let protection = Protection::Passphrase("correct horse");
/// KeyFile::Device.write(&path, &[7; 32], &protection, &mut rng)?;
/// assert_eq!(*KeyFile::Device.read(&path, Some("correct horse"))?, [7; 32]);
/// let refused = KeyFile::Device.read(&path, Some("wrong horse"));
/// assert!(matches!(refused, Err(KeyFileError::Passphrase { .. })));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KeyFile {
    /// A [`crate::DeviceSecret`].
    Device = 1,
    /// A [`crate::SigningIdentity`].
    Signing = 2,
    /// A [`crate::SecretKey`] that another library drew.
    Imported = 3,
    /// A `RecryptorSecret`.
    #[cfg(feature = "partial")]
    Recryptor = 4,
    /// A [`crate::DeviceBundle`].
    Bundle = 5,
    /// A [`crate::DeviceBundle`] with an authority's certificates.
    BundleWithAuthority = 6,
    /// A [`crate::DeviceBundle`] with public keys in place of a device secret.
    BundleWithPublicKeys = 7,
    /// A [`PlantKey`], which seals the other secrets of a plant.
    Plant = 8,
    /// A secret text, such as an authority's key in PEM.
    Document = 9,
}

/// The protection of the secret in the file.
///
/// ```
/// use sotto_keys::{KeyFile, PlantKey, Protection};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("boiler.key");
/// let mut rng = sotto_ring::secure_rng()?;
/// let key = PlantKey::generate(&mut rng);
/// let protection = Protection::PlantKey { key: &key, name: "boiler.key" };
/// KeyFile::Device.write(&path, &[7; 32], &protection, &mut rng)?;
/// assert_eq!(*KeyFile::Device.read(&path, protection)?, [7; 32]);
/// assert!(KeyFile::Device.read(&path, None).is_err());
/// assert!(KeyFile::Device.read(&path, Protection::PlantKey { key: &key, name: "pump.key" }).is_err());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub enum Protection<'a> {
    /// The file's mode only: for devices that start unattended.
    FileMode,
    /// The file's mode and a passphrase.
    Passphrase(&'a str),
    /// The file's mode and the key of the plant that the file belongs to.
    PlantKey {
        /// The plant's key.
        key: &'a PlantKey,
        /// The secret's name in the plant: the file opens under no other one.
        name: &'a str,
    },
}

impl<'a> From<Option<&'a str>> for Protection<'a> {
    /// Returns the protection by a passphrase, if there is one.
    fn from(passphrase: Option<&'a str>) -> Self {
        passphrase.map_or(Self::FileMode, Self::Passphrase)
    }
}

/// The protection that a file names. Says nothing about its contents.
///
/// ```
/// use sotto_keys::{KeyFile, Protected, Protection};
///
/// let mut rng = sotto_ring::secure_rng()?;
/// let file = KeyFile::Device.encode(&[7; 32], Protection::FileMode, &mut rng)?;
/// assert_eq!(KeyFile::protected(&file), Some(Protected::FileMode));
/// assert_eq!(KeyFile::protected(b"-----BEGIN PRIVATE KEY-----"), None);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protected {
    /// The file's mode only.
    FileMode,
    /// A passphrase.
    Passphrase,
    /// The plant's key of this name.
    PlantKey(PlantKeyName),
}

/// The reason why a key file cannot be used.
///
/// Example: [`KeyFile`]
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file cannot be read or written.
    #[error("the key file {path} cannot be used: {error}")]
    Io {
        /// The file's path.
        path: String,
        /// The system's reason.
        error: io::Error,
    },
    /// The file's mode lets others read it.
    #[error("the key file {path} can be read by others (mode {mode:03o}): run chmod 600 on it")]
    Mode {
        /// The file's path.
        path: String,
        /// The permission bits found.
        mode: u32,
    },
    /// The bytes are not a key file, or are damaged.
    #[error("the key file {path} {reason}")]
    Damaged {
        /// The file's path.
        path: String,
        /// The reason, as the end of a sentence.
        reason: &'static str,
    },
    /// The passphrase or the plant's key is missing, wrong, or given for a file without one.
    #[error("the key file {path} {reason}")]
    Passphrase {
        /// The file's path.
        path: String,
        /// The reason, as the end of a sentence.
        reason: &'static str,
    },
}

impl KeyFile {
    /// Writes a new file with mode 0600; an existing file is never overwritten.
    ///
    /// # Errors
    /// [`KeyFileError::Io`] if the file exists or cannot be written, [`KeyFileError::Damaged`] if the
    /// passphrase cannot be used.
    pub fn write(
        self,
        path: &Path,
        secret: &[u8; 32],
        protection: &Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<(), KeyFileError> {
        self.write_secret(path, secret, *protection, rng)
    }

    /// Returns the bytes of a file of this kind.
    ///
    /// # Errors
    /// [`KeyFileError::Damaged`] if the passphrase cannot be used, or the secret is longer than a file of this kind holds.
    pub fn encode(
        self,
        secret: &[u8],
        protection: Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        self.encode_for(Path::new("in memory"), secret, protection, rng)
    }

    /// Returns the protection that a file names; None if the bytes are not a key file.
    pub fn protected(bytes: &[u8]) -> Option<Protected> {
        format::protected(bytes)
    }

    /// Returns the kind that a file names; None if the bytes are not a key file of a known kind.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let kinds = [
            Self::Device,
            Self::Signing,
            Self::Imported,
            #[cfg(feature = "partial")]
            Self::Recryptor,
            Self::Bundle,
            Self::BundleWithAuthority,
            Self::BundleWithPublicKeys,
            Self::Plant,
            Self::Document,
        ];
        format::protected(bytes)?;
        kinds.into_iter().find(|kind| kind.is_kind_of(bytes))
    }

    /// Returns the maximum bytes of a secret of this kind.
    fn longest(self) -> usize {
        match self {
            Self::Device | Self::Signing | Self::Plant => 32,
            // The identity of the key's parameters, and two bits a coefficient at the largest degree.
            Self::Imported => 32 + (1 << 17) / 4,
            #[cfg(feature = "partial")]
            Self::Recryptor => LONGEST_RECRYPTOR,
            Self::Bundle => LONGEST_BUNDLE,
            Self::BundleWithAuthority => LONGEST_BUNDLE_WITH_AUTHORITY,
            Self::BundleWithPublicKeys => LONGEST_BUNDLE_WITH_PUBLIC_KEYS,
            Self::Document => LONGEST_DOCUMENT,
        }
    }

    pub(crate) fn write_secret(
        self,
        path: &Path,
        secret: &[u8],
        protection: Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<(), KeyFileError> {
        let bytes = self.encode_for(path, secret, protection, rng)?;
        make_private(path, &bytes).map_err(|error| io_error(path, error))
    }

    /// Returns the bytes of a file, undecoded, which are at most those of the largest file of this kind and one more.
    ///
    /// # Errors
    /// [`KeyFileError::Io`] if it cannot be read, [`KeyFileError::Mode`] if others may read it.
    pub fn load(self, path: &Path) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        read_private(path, self.largest())
    }

    /// Reads a file of this kind. The protection is a passphrase, if there is one, or a plant's key.
    ///
    /// # Errors
    /// [`KeyFileError::Io`] if it cannot be read, [`KeyFileError::Mode`] if others may read it,
    /// [`KeyFileError::Damaged`] if it is damaged or of another kind, [`KeyFileError::Passphrase`] if the
    /// passphrase or the plant's key is missing, wrong or unexpected.
    pub fn read<'a>(
        self,
        path: &Path,
        protection: impl Into<Protection<'a>>,
    ) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
        of_32_bytes(&self.read_secret(path, protection.into())?, path)
    }

    /// Decodes the bytes of a file of this kind; `path` names the file in errors.
    ///
    /// # Errors
    /// [`KeyFileError::Damaged`] and [`KeyFileError::Passphrase`], as for [`KeyFile::read`].
    pub fn parse<'a>(
        self,
        bytes: &[u8],
        path: &Path,
        protection: impl Into<Protection<'a>>,
    ) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
        of_32_bytes(&self.parse_secret(bytes, path, protection.into())?, path)
    }

    /// Decodes the bytes of a file of this kind, whose secret may have any length; `path` names the file in errors.
    ///
    /// # Errors
    /// Those of [`KeyFile::parse`].
    pub fn parse_bytes(
        self,
        bytes: &[u8],
        path: &Path,
        protection: Protection<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        self.parse_secret(bytes, path, protection)
    }

    pub(crate) fn read_secret(
        self,
        path: &Path,
        protection: Protection<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        self.parse_secret(&read_private(path, self.largest())?, path, protection)
    }

    /// Returns true if the byte for the kind names this kind. Checks nothing else.
    pub(crate) fn is_kind_of(self, bytes: &[u8]) -> bool {
        bytes.get(format::KIND) == Some(&(self as u8))
    }

    /// Returns the bytes of the largest file of this kind.
    pub(crate) fn largest(self) -> usize {
        format::OVERHEAD + self.longest()
    }
}

fn of_32_bytes(secret: &[u8], path: &Path) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
    <[u8; 32]>::try_from(secret).map(Zeroizing::new).map_err(|_| damaged(path, "is damaged"))
}

fn io_error(path: &Path, error: io::Error) -> KeyFileError {
    KeyFileError::Io { path: path.display().to_string(), error }
}

fn damaged(path: &Path, reason: &'static str) -> KeyFileError {
    KeyFileError::Damaged { path: path.display().to_string(), reason }
}

#[cfg(test)]
mod tests;
