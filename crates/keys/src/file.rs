//! Key files: mode 0600, with or without a passphrase.
//!
//! A file is `magic ‖ version ‖ kind ‖ protection ‖ …`. The byte `protection` is:
//!
//! - 0: the secret bytes follow in the clear (32 bytes for device secrets and signing identities, more for
//!   other kinds);
//! - 2: the cost of Argon2id (memory in KiB, passes, lanes, a little-endian `u32` each), a salt, a nonce, and
//!   the secret bytes encrypted by XChaCha20-Poly1305 with all bytes before as associated data;
//! - 1, of earlier versions: like 2 without the cost, which is 64 MiB, 3 passes and 1 lane.
//!
//! The last 32 bytes are a BLAKE3 digest of all bytes before, to tell damage from a wrong passphrase. An
//! attacker who can write the file can replace it by an unprotected secret of their own; so a file without
//! protection is refused if a passphrase is given.

use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use argon2::{Algorithm, Argon2, Version};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

#[cfg(feature = "partial")]
use crate::lengths::LONGEST_RECRYPTOR;
use crate::lengths::{LONGEST_BUNDLE, LONGEST_BUNDLE_WITH_AUTHORITY, LONGEST_BUNDLE_WITH_PUBLIC_KEYS};

/// Number of files that this process made, for names of its own.
static MADE: AtomicU32 = AtomicU32::new(0);

const MAGIC: &[u8; 8] = b"sottokey";
const SALT: usize = 16;
const NONCE: usize = 24;
const TAG: usize = 16;
const DIGEST: usize = 32;
const HEADER: usize = MAGIC.len() + 3;
const COST: usize = 12;
const OVERHEAD: usize = HEADER + COST + SALT + NONCE + TAG + DIGEST;

/// Values of the byte `protection`.
const IN_THE_CLEAR: u8 = 0;
const UNDER_FIXED_COST: u8 = 1;
const UNDER_STATED_COST: u8 = 2;

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
}

/// The protection of the secret in the file.
///
/// Example: [`KeyFile`]
pub enum Protection<'a> {
    /// The file's mode only: for devices that start unattended.
    FileMode,
    /// The file's mode and a passphrase.
    Passphrase(&'a str),
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
    /// The passphrase is missing, wrong, or given for a file without one.
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
        self.write_secret(path, secret, protection, rng)
    }

    /// Returns the maximum bytes of a secret of this kind.
    fn longest(self) -> usize {
        match self {
            Self::Device | Self::Signing => 32,
            // The identity of the key's parameters, and two bits a coefficient at the largest degree.
            Self::Imported => 32 + (1 << 17) / 4,
            #[cfg(feature = "partial")]
            Self::Recryptor => LONGEST_RECRYPTOR,
            Self::Bundle => LONGEST_BUNDLE,
            Self::BundleWithAuthority => LONGEST_BUNDLE_WITH_AUTHORITY,
            Self::BundleWithPublicKeys => LONGEST_BUNDLE_WITH_PUBLIC_KEYS,
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
        bytes.extend_from_slice(&[1, self as u8]);
        match protection {
            Protection::FileMode => {
                bytes.push(IN_THE_CLEAR);
                bytes.extend_from_slice(secret);
            }
            Protection::Passphrase(passphrase) => {
                bytes.push(UNDER_STATED_COST);
                bytes.extend_from_slice(&Cost::NEW.bytes());
                let mut random = [0; SALT + NONCE];
                rng.fill_bytes(&mut random);
                bytes.extend_from_slice(&random);
                let failed = || damaged(path, "cannot be encrypted with this passphrase");
                let cipher = Cost::NEW.cipher(passphrase, &random[..SALT]).ok_or_else(failed)?;
                let payload = Payload { msg: secret, aad: &bytes };
                let nonce = XNonce::try_from(&random[SALT..]).map_err(|_| failed())?;
                let sealed = cipher.encrypt(&nonce, payload).map_err(|_| failed())?;
                bytes.extend_from_slice(&sealed);
            }
        }
        let digest = blake3::hash(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        make_private(path, &bytes).map_err(|error| io_error(path, error))
    }

    /// Reads a file of this kind.
    ///
    /// # Errors
    /// [`KeyFileError::Io`] if it cannot be read, [`KeyFileError::Mode`] if others may read it,
    /// [`KeyFileError::Damaged`] if it is damaged or of another kind, [`KeyFileError::Passphrase`] if the
    /// passphrase is missing, wrong or unexpected.
    pub fn read(self, path: &Path, passphrase: Option<&str>) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
        let secret = self.read_secret(path, passphrase)?;
        <[u8; 32]>::try_from(secret.as_slice()).map(Zeroizing::new).map_err(|_| damaged(path, "is damaged"))
    }

    /// Decodes the bytes of a file of this kind; `path` names the file in errors.
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

    /// Returns true if the byte for the kind names this kind. Checks nothing else.
    pub(crate) fn is_kind_of(self, bytes: &[u8]) -> bool {
        bytes.get(MAGIC.len() + 1) == Some(&(self as u8))
    }

    /// Returns the bytes of the largest file of this kind.
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
        let refused = |reason| KeyFileError::Passphrase { path: path.display().to_string(), reason };
        let (cost, rest) = match body[10] {
            IN_THE_CLEAR if passphrase.is_some() => {
                return Err(refused(
                    "is not under a passphrase, although one was given: somebody may have put it in the place of your own. If it is meant to be \
                     so, give no passphrase",
                ));
            }
            IN_THE_CLEAR => return Ok(Zeroizing::new(rest.to_vec())),
            UNDER_FIXED_COST => (Cost::FIXED, rest),
            UNDER_STATED_COST => {
                let (cost, rest) = rest.split_first_chunk().ok_or_else(|| damaged(path, "is damaged"))?;
                let cost = Cost::read(cost);
                (cost.ok_or_else(|| damaged(path, "asks for more memory or time than a key file may"))?, rest)
            }
            _ => return Err(damaged(path, "is protected in a way that this version does not know")),
        };
        let passphrase = passphrase.ok_or_else(|| refused("needs its passphrase"))?;
        let (salt, sealed) = rest.split_first_chunk::<SALT>().ok_or_else(|| damaged(path, "is damaged"))?;
        let (nonce, sealed) =
            sealed.split_first_chunk::<NONCE>().ok_or_else(|| damaged(path, "is damaged"))?;
        if sealed.len() < TAG {
            return Err(damaged(path, "is damaged"));
        }
        let payload = Payload { msg: sealed, aad: &body[..body.len() - sealed.len()] };
        let opened = cost
            .cipher(passphrase, salt)
            .and_then(|cipher| cipher.decrypt(&XNonce::from(*nonce), payload).ok())
            .ok_or_else(|| refused("does not open with this passphrase"))?;
        Ok(Zeroizing::new(opened))
    }
}

/// The cost of one guess of the passphrase: the parameters of Argon2id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    /// 8·`lanes` to [`Cost::MOST_MEMORY`].
    memory_kib: u32,
    /// 1 to [`Cost::MOST_PASSES`].
    passes: u32,
    /// 1 to [`Cost::MOST_LANES`].
    lanes: u32,
}

impl Cost {
    /// The cost of files of protection 1.
    const FIXED: Self = Self { memory_kib: 64 << 10, passes: 3, lanes: 1 };
    /// The cost of new files.
    const NEW: Self = Self::FIXED;
    /// 1 GiB, so that a hostile file cannot exhaust memory.
    const MOST_MEMORY: u32 = 1 << 20;
    const MOST_PASSES: u32 = 16;
    const MOST_LANES: u32 = 16;

    /// Decodes a cost. Returns None if it exceeds the bounds.
    fn read(bytes: &[u8; COST]) -> Option<Self> {
        let [memory_kib, passes, lanes] =
            [0, 4, 8].map(|at| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
        let within = (1..=Self::MOST_LANES).contains(&lanes)
            && (1..=Self::MOST_PASSES).contains(&passes)
            && (8 * lanes..=Self::MOST_MEMORY).contains(&memory_kib);
        within.then_some(Self { memory_kib, passes, lanes })
    }

    fn bytes(self) -> Vec<u8> {
        [self.memory_kib, self.passes, self.lanes].map(u32::to_le_bytes).concat()
    }

    fn cipher(self, passphrase: &str, salt: &[u8]) -> Option<XChaCha20Poly1305> {
        let params = argon2::Params::new(self.memory_kib, self.passes, self.lanes, Some(32)).ok()?;
        let mut key = Zeroizing::new([0; 32]);
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon.hash_password_into(passphrase.as_bytes(), salt, key.as_mut_slice()).ok()?;
        XChaCha20Poly1305::new_from_slice(key.as_slice()).ok()
    }
}

fn io_error(path: &Path, error: io::Error) -> KeyFileError {
    KeyFileError::Io { path: path.display().to_string(), error }
}

fn damaged(path: &Path, reason: &'static str) -> KeyFileError {
    KeyFileError::Damaged { path: path.display().to_string(), reason }
}

/// Makes a file of mode 0600 that holds `bytes`. An existing file is never replaced, and a crash leaves the whole file or
/// none under this name: the bytes are written and synced under another name first, to which `path` is then linked.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("owner-token");
/// sotto_keys::make_private(&path, b"first")?;
/// let again = sotto_keys::make_private(&path, b"second").unwrap_err();
/// assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
/// assert_eq!(std::fs::read(&path)?, b"first");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the file exists; another error if it cannot be written.
pub fn make_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}.partial", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)));
    let partial = path.with_file_name(name);
    // A process of the same number may have died here.
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = write_new(&partial, bytes).and_then(|()| link(&partial, path, bytes));
    let removed = fs::remove_file(&partial);
    written?;
    // Without a link the file has taken the other's place, or was written by itself.
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // The new name must survive a crash too.
    match path.parent().filter(|folder| cfg!(unix) && !folder.as_os_str().is_empty()) {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Gives a written file its name, unless there is one already.
fn link(written: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::hard_link(written, path) {
        // File systems without links, such as FAT: a crash may then leave half a file, which no reader accepts.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) =>
        {
            let made = write_new(path, bytes);
            if made.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists) {
                let _ = fs::remove_file(path);
            }
            made
        }
        linked => linked,
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
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
    // Allocates once, as a vector that grows leaves copies of the secret behind. One byte above the limit
    // reveals a file that is too long or grows meanwhile. A pipe reports no length.
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

    /// Appends the digest of `body`.
    fn with_digest(body: &[u8]) -> Vec<u8> {
        [body, blake3::hash(body).as_bytes()].concat()
    }

    fn locked() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("owner.key");
        KeyFile::Device.write(&path, &[7; 32], &Protection::Passphrase("correct horse"), &mut rng()).unwrap();
        fs::read(path).unwrap()
    }

    fn parse(bytes: &[u8], passphrase: Option<&str>) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
        KeyFile::Device.parse(bytes, Path::new("owner.key"), passphrase)
    }

    #[test]
    fn a_passphrase_opens_no_file_without_protection() {
        let swapped = with_digest(&[MAGIC, &[1, 1, IN_THE_CLEAR][..], &[9; 32]].concat());
        assert!(parse(&swapped, None).is_ok());
        let refused = parse(&swapped, Some("correct horse")).unwrap_err();
        assert!(refused.to_string().contains("is not under a passphrase"), "{refused}");
    }

    /// Written by version 0.1, before files held the cost. The secret comes from the copy that the same
    /// program made for the device.
    #[test]
    fn files_of_fixed_cost_stay_readable() {
        let file = hex(
            "736f74746f6b6579010101572bb2eabf055fac7bfb638cbca5a1d7f66bbbbb26430f150b013814b9d2e166e02f7bd8fa5f08fb6c5a43a9ce169f880e\
             de60e96b43f9dccd77e5972138be79c88d457cdd08c64dced0667f8786f77d5e61836ab2ac86a71a98b3a8b6380cf91e9ee851578c22fb1468cbe47c\
             d0d43c0145ad1293cbde7d",
        );
        let secret = hex("e76b5e9b44d2076becdc1b9fcedfdf143f059e025be52acaaf197f829af412a1");
        assert_eq!(parse(&file, Some("a long passphrase")).unwrap().as_slice(), secret);
        assert!(matches!(parse(&file, Some("another passphrase")), Err(KeyFileError::Passphrase { .. })));
    }

    fn hex(text: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
        (0..text.len() / 2).map(digit).collect()
    }

    #[test]
    fn the_cost_is_in_the_file_bounded_and_bound_to_the_secret() {
        let file = locked();
        assert_eq!(file[10..23], [&[2][..], &[0, 0, 1, 0], &[3, 0, 0, 0], &[1, 0, 0, 0]].concat());
        let with_cost = |memory: u32, passes: u32, lanes: u32| {
            let mut body = file[..file.len() - DIGEST].to_vec();
            body[HEADER..HEADER + COST]
                .copy_from_slice(&[memory, passes, lanes].map(u32::to_le_bytes).concat());
            parse(&with_digest(&body), Some("correct horse")).map(drop)
        };
        with_cost(64 << 10, 3, 1).unwrap();
        // Another cost gives another key, and the cost is associated data too.
        for (memory, passes, lanes) in [(8, 1, 1), (64, 16, 8), (64 << 10, 3, 2)] {
            let refused = with_cost(memory, passes, lanes);
            assert!(matches!(refused, Err(KeyFileError::Passphrase { .. })), "{memory} {passes} {lanes}");
        }
        let beyond = [
            (u32::MAX, 3, 1),
            ((1 << 20) + 1, 3, 1),
            (7, 3, 1),
            (8 * 16 - 1, 3, 16),
            (64 << 10, 0, 1),
            (64 << 10, 17, 1),
            (64 << 10, u32::MAX, 1),
            (64 << 10, 3, 0),
            (64 << 10, 3, 17),
            (64 << 10, 3, u32::MAX),
        ];
        for (memory, passes, lanes) in beyond {
            let refused = with_cost(memory, passes, lanes);
            assert!(matches!(refused, Err(KeyFileError::Damaged { .. })), "{memory} {passes} {lanes}");
        }
        for length in HEADER..file.len() - DIGEST - TAG {
            let cut = parse(&with_digest(&file[..length]), None).map(drop);
            assert!(cut.is_err(), "{length}");
        }
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
                // The reader may stop before the writer has written everything.
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
