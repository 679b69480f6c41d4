//! Key files: mode 0600, with or without a passphrase.
//!
//! A file is `magic ‖ kind ‖ protection ‖ …`: in the clear the secret bytes (32 but for an imported key); under a passphrase
//! a salt, a nonce and the bytes encrypted by XChaCha20-Poly1305 under Argon2id (64 MiB, 3 passes), with everything before as
//! associated data. The last 32 bytes are a BLAKE3 digest of all before, so that damage is told from a wrong passphrase.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use argon2::{Algorithm, Argon2, Version};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

const MAGIC: &[u8; 8] = b"sottokey";
const SALT: usize = 16;
const NONCE: usize = 24;
const TAG: usize = 16;
const DIGEST: usize = 32;
const HEADER: usize = MAGIC.len() + 3;
const OVERHEAD: usize = HEADER + SALT + NONCE + TAG + DIGEST;

/// What a key file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KeyFile {
    /// A [`crate::DeviceSecret`].
    Device = 1,
    /// A [`crate::SigningIdentity`].
    Signing = 2,
    /// A [`crate::SecretKey`] that another library drew.
    Imported = 3,
    /// A [`crate::partial::RecryptorSecret`].
    Recryptor = 4,
    /// A [`crate::DeviceBundle`].
    Bundle = 5,
    /// A [`crate::DeviceBundle`] with the certificate of an authority.
    BundleWithAuthority = 6,
}

/// How the secret is kept in the file.
pub enum Protection<'a> {
    /// Only by the file's mode: for devices that start unattended.
    FileMode,
    /// By a passphrase as well.
    Passphrase(&'a str),
}

/// Why a key file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file cannot be read or written.
    #[error("the key file {path} cannot be used: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// Others may read it.
    #[error("the key file {path} can be read by others (mode {mode:03o}): run chmod 600 on it")]
    Mode {
        /// The file.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// Not a key file, or damaged.
    #[error("the key file {path} {reason}")]
    Damaged {
        /// The file.
        path: String,
        /// Why.
        reason: &'static str,
    },
    /// The passphrase is missing or wrong.
    #[error("the key file {path} {reason}")]
    Passphrase {
        /// The file.
        path: String,
        /// Why.
        reason: &'static str,
    },
}

impl KeyFile {
    /// Writes a new file with mode 0600; an existing file is never overwritten.
    pub fn write(
        self,
        path: &Path,
        secret: &[u8; 32],
        protection: &Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<(), KeyFileError> {
        self.write_secret(path, secret, protection, rng)
    }

    /// Bytes of the longest secret of this kind.
    fn longest(self) -> usize {
        match self {
            Self::Device | Self::Signing => 32,
            // The identity of its parameters, and two bits a coefficient at the largest degree.
            Self::Imported => 32 + (1 << 17) / 4,
            Self::Recryptor => crate::partial::RecryptorSecret::LONGEST,
            Self::Bundle => crate::DeviceBundle::LONGEST,
            Self::BundleWithAuthority => crate::DeviceBundle::LONGEST_WITH_AUTHORITY,
        }
    }

    pub(crate) fn write_secret(
        self,
        path: &Path,
        secret: &[u8],
        protection: &Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<(), KeyFileError> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(OVERHEAD + secret.len()));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[1, self as u8, u8::from(matches!(protection, Protection::Passphrase(_)))]);
        match protection {
            Protection::FileMode => bytes.extend_from_slice(secret),
            Protection::Passphrase(passphrase) => {
                let mut random = [0; SALT + NONCE];
                rng.fill_bytes(&mut random);
                bytes.extend_from_slice(&random);
                let failed = || damaged(path, "cannot be encrypted with this passphrase");
                let cipher = cipher(passphrase, &random[..SALT]).ok_or_else(failed)?;
                let payload = Payload { msg: secret, aad: &bytes };
                let nonce = XNonce::try_from(&random[SALT..]).map_err(|_| failed())?;
                let sealed = cipher.encrypt(&nonce, payload).map_err(|_| failed())?;
                bytes.extend_from_slice(&sealed);
            }
        }
        let digest = blake3::hash(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        write_private(path, &bytes).map_err(|error| io_error(path, error))
    }

    /// Reads a file of this kind.
    pub fn read(self, path: &Path, passphrase: Option<&str>) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
        let secret = self.read_secret(path, passphrase)?;
        <[u8; 32]>::try_from(secret.as_slice()).map(Zeroizing::new).map_err(|_| damaged(path, "is damaged"))
    }

    /// The secret in the bytes of a file of this kind; `path` names the file in errors.
    ///
    /// # Errors
    /// [`KeyFileError::Damaged`] and [`KeyFileError::Passphrase`], as for [`KeyFile::read`].
    pub fn parse(
        self,
        bytes: &[u8],
        path: &Path,
        passphrase: Option<&str>,
    ) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
        let secret = self.parse_secret(bytes, path, passphrase)?;
        <[u8; 32]>::try_from(secret.as_slice()).map(Zeroizing::new).map_err(|_| damaged(path, "is damaged"))
    }

    pub(crate) fn read_secret(
        self,
        path: &Path,
        passphrase: Option<&str>,
    ) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        self.parse_secret(&read_private(path, self.largest())?, path, passphrase)
    }

    /// True if the bytes of a file say that it is of this kind. Nothing else of them is checked.
    pub(crate) fn is_kind_of(self, bytes: &[u8]) -> bool {
        bytes.get(MAGIC.len() + 1) == Some(&(self as u8))
    }

    /// Bytes of the largest file of this kind.
    pub(crate) fn largest(self) -> usize {
        OVERHEAD + self.longest()
    }

    pub(crate) fn parse_secret(
        self,
        bytes: &[u8],
        path: &Path,
        passphrase: Option<&str>,
    ) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        if bytes.len() > self.largest() {
            return Err(damaged(path, "is too long to be a key file"));
        }
        let checked = bytes.len().checked_sub(DIGEST).filter(|end| *end >= HEADER);
        let Some(end) = checked else { return Err(damaged(path, "is too short to be a key file")) };
        let (body, digest) = bytes.split_at(end);
        if &body[..8] != MAGIC || body[8] != 1 {
            return Err(damaged(path, "is not a sotto key file of version 1"));
        }
        if blake3::hash(body)
            != *<&[u8; DIGEST]>::try_from(digest).map_err(|_| damaged(path, "is damaged"))?
        {
            return Err(damaged(path, "is damaged: its digest does not match"));
        }
        if body[9] != self as u8 {
            return Err(damaged(path, "holds another kind of key"));
        }
        let rest = &body[HEADER..];
        match (body[10], passphrase) {
            (0, _) => Ok(Zeroizing::new(rest.to_vec())),
            (1, None) => Err(KeyFileError::Passphrase {
                path: path.display().to_string(),
                reason: "needs its passphrase",
            }),
            (1, Some(passphrase)) => decrypt_with_passphrase(path, body, rest, passphrase),
            _ => Err(damaged(path, "is protected in a way that this version does not know")),
        }
    }
}

fn decrypt_with_passphrase(
    path: &Path,
    body: &[u8],
    rest: &[u8],
    passphrase: &str,
) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    if rest.len() < SALT + NONCE + TAG {
        return Err(damaged(path, "is damaged"));
    }
    let wrong = || KeyFileError::Passphrase {
        path: path.display().to_string(),
        reason: "does not open with this passphrase",
    };
    let (salt, nonce) = (&rest[..SALT], &rest[SALT..SALT + NONCE]);
    let payload = Payload { msg: &rest[SALT + NONCE..], aad: &body[..HEADER + SALT + NONCE] };
    let nonce = XNonce::try_from(nonce).map_err(|_| wrong())?;
    let cipher = cipher(passphrase, salt).ok_or_else(wrong)?;
    Ok(Zeroizing::new(cipher.decrypt(&nonce, payload).map_err(|_| wrong())?))
}

fn cipher(passphrase: &str, salt: &[u8]) -> Option<XChaCha20Poly1305> {
    let cost = argon2::Params::new(64 * 1024, 3, 1, Some(32)).ok()?;
    let mut key = Zeroizing::new([0; 32]);
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost);
    argon.hash_password_into(passphrase.as_bytes(), salt, key.as_mut_slice()).ok()?;
    XChaCha20Poly1305::new_from_slice(key.as_slice()).ok()
}

fn io_error(path: &Path, error: io::Error) -> KeyFileError {
    KeyFileError::Io { path: path.display().to_string(), error }
}

fn damaged(path: &Path, reason: &'static str) -> KeyFileError {
    KeyFileError::Damaged { path: path.display().to_string(), reason }
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a key file would stand in the way of the next attempt.
        let _ = fs::remove_file(path);
    }
    written
}

pub(crate) fn read_private(path: &Path, largest: usize) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let file = fs::File::open(path).map_err(|error| io_error(path, error))?;
    let metadata = file.metadata().map_err(|error| io_error(path, error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyFileError::Mode { path: path.display().to_string(), mode });
        }
    }
    // Taken once, as a vector that grows leaves copies behind. One byte more tells a file that is too long or grows meanwhile.
    // A pipe does not know its length.
    let length = if metadata.is_file() { metadata.len() } else { u64::MAX };
    let most = usize::try_from(length).unwrap_or(largest).min(largest) + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(most));
    file.take(most as u64).read_to_end(&mut bytes).map_err(|error| io_error(path, error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rng() -> impl SecretRng {
        sotto_ring::secure_rng().unwrap()
    }

    #[test]
    fn files_round_trip_and_refuse_what_they_should() {
        let folder = tempfile::tempdir().unwrap();
        let secret = [7; 32];
        let plain = folder.path().join("device.key");
        KeyFile::Device.write(&plain, &secret, &Protection::FileMode, &mut rng()).unwrap();
        assert_eq!(*KeyFile::Device.read(&plain, None).unwrap(), secret);
        assert!(KeyFile::Signing.read(&plain, None).is_err(), "another kind");
        assert!(
            KeyFile::Device.write(&plain, &secret, &Protection::FileMode, &mut rng()).is_err(),
            "overwrites"
        );

        let locked = folder.path().join("owner.key");
        KeyFile::Device
            .write(&locked, &secret, &Protection::Passphrase("correct horse"), &mut rng())
            .unwrap();
        assert_eq!(*KeyFile::Device.read(&locked, Some("correct horse")).unwrap(), secret);
        assert!(matches!(KeyFile::Device.read(&locked, None), Err(KeyFileError::Passphrase { .. })));
        assert!(matches!(KeyFile::Device.read(&locked, Some("wrong")), Err(KeyFileError::Passphrase { .. })));
        let bytes = fs::read(&locked).unwrap();
        assert!(!bytes.windows(8).any(|w| w == [7; 8]), "the secret is not in the file");
    }

    #[cfg(unix)]
    #[test]
    fn modes_and_damage() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("device.key");
        KeyFile::Device.write(&path, &[9; 32], &Protection::FileMode, &mut rng()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let bytes = fs::read(&path).unwrap();
        for (i, _) in bytes.iter().enumerate() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert!(KeyFile::Device.read(&path, None).is_err(), "byte {i}");
            fs::write(&path, &bytes[..i]).unwrap();
            assert!(KeyFile::Device.read(&path, None).is_err(), "cut at {i}");
        }
        fs::write(&path, &bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(KeyFile::Device.read(&path, None), Err(KeyFileError::Mode { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_comes_through_a_pipe_and_nothing_longer_than_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let (path, pipe) = (folder.path().join("device.key"), folder.path().join("pipe"));
        KeyFile::Device.write(&path, &[9; 32], &Protection::FileMode, &mut rng()).unwrap();
        let bytes = fs::read(&path).unwrap();
        let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status().unwrap();
        assert!(made.success());
        let through_pipe = |bytes: &[u8]| {
            std::thread::scope(|scope| {
                // Who reads may leave before the end.
                scope.spawn(|| drop(fs::write(&pipe, bytes)));
                KeyFile::Device.read(&pipe, None)
            })
        };
        assert_eq!(*through_pipe(&bytes).unwrap(), [9; 32]);
        let long = [bytes, vec![0; 1 << 20]].concat();
        assert!(matches!(through_pipe(&long), Err(KeyFileError::Damaged { .. })));
        fs::write(&path, &long).unwrap();
        assert!(matches!(KeyFile::Device.read(&path, None), Err(KeyFileError::Damaged { .. })));
    }
}
