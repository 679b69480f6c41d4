//! The bundle: the one file that a device needs. It holds the device's keys, its cloud's address and its
//! profile.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use std::path::Path;

use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use crate::file::{KeyFile, KeyFileError, Protection, read_private};
use crate::lengths::{
    LENGTH, LONGEST_AUTHORITY, LONGEST_CLOUD, LONGEST_PROFILE, LONGEST_PUBLIC_KEYS, MOST_PUBLIC_KEYS,
};
use crate::{DeviceSecret, SigningIdentity};

/// The keys with which a device encrypts.
///
/// Example: [`DeviceBundle`]
pub enum DeviceKeys {
    /// The secret from which the device's keys are derived. Its holder can read all data of the device.
    Secret(DeviceSecret),
    /// Frames of public keys, 1 to [`MOST_PUBLIC_KEYS`], not parsed here. Their holder can encrypt and cannot
    /// decrypt.
    Public(Vec<Vec<u8>>),
}

/// Everything that a device receives when it is enrolled. Anybody with a copy of the file can send in the
/// device's name, and unless it holds public keys only, read all data of the device.
///
/// ```
/// use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SigningIdentity};
///
/// # let folder = tempfile::tempdir()?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let boiler = DeviceBundle {
///     keys: DeviceKeys::Secret(DeviceSecret::generate(&mut rng)),
///     identity: SigningIdentity::generate(&mut rng),
///     cloud: "https://cloud.example:7410".into(),
///     authority: None,
///     profile: b"{}".to_vec(),
/// };
/// let path = folder.path().join("boiler.bundle");
/// boiler.write(&path, &Protection::FileMode, &mut rng)?;
/// let read = DeviceBundle::read(&path, None)?;
/// assert_eq!(read.cloud, "https://cloud.example:7410");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct DeviceBundle {
    /// The keys with which the device encrypts.
    pub keys: DeviceKeys,
    /// The identity with which the device signs.
    pub identity: SigningIdentity,
    /// The cloud's address, at most [`LONGEST_CLOUD`] bytes.
    pub cloud: String,
    /// PEM certificates of the authority that signs the cloud's certificate, at most [`LONGEST_AUTHORITY`]
    /// bytes, not parsed here. None: a public authority, or no TLS. Beside public keys, no bytes are None.
    pub authority: Option<Vec<u8>>,
    /// The device's profile as JSON, at most [`LONGEST_PROFILE`] bytes, not parsed here.
    pub profile: Vec<u8>,
}

impl DeviceBundle {
    /// Writes a new file with mode 0600; an existing file is never overwritten. Older programs can read a
    /// bundle with a secret and without an authority.
    ///
    /// # Errors
    /// [`KeyFileError`] if the address, the authority, the profile or the public keys are too long, there are no
    /// public keys or too many, or the file cannot be written.
    pub fn write(
        &self,
        path: &Path,
        protection: &Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<(), KeyFileError> {
        let (cloud, authority) = (self.cloud.as_bytes(), self.authority.as_deref());
        let too_long = cloud.len() > LONGEST_CLOUD
            || self.profile.len() > LONGEST_PROFILE
            || authority.is_some_and(|authority| authority.len() > LONGEST_AUTHORITY);
        if too_long {
            return Err(damaged(
                path,
                "cannot be written: the address, the authority or the profile is too long",
            ));
        }
        // The capacity is exact: a vector that grows leaves a copy of the secrets behind.
        let mut content = Zeroizing::new(Vec::with_capacity(self.content_bytes()));
        if let DeviceKeys::Secret(secret) = &self.keys {
            content.extend_from_slice(secret.expose_secret_bytes());
        }
        content.extend_from_slice(self.identity.expose_secret_bytes());
        write_counted(&mut content, cloud);
        let kind = match &self.keys {
            DeviceKeys::Secret(_) => {
                authority.inspect(|authority| write_counted(&mut content, authority));
                if authority.is_some() { KeyFile::BundleWithAuthority } else { KeyFile::Bundle }
            }
            DeviceKeys::Public(keys) => {
                let bytes: usize = keys.iter().map(Vec::len).sum();
                if !(1..=MOST_PUBLIC_KEYS).contains(&keys.len()) || bytes > LONGEST_PUBLIC_KEYS {
                    return Err(damaged(
                        path,
                        "cannot be written: it takes 1 to 64 public keys, of 64 MiB together",
                    ));
                }
                write_counted(&mut content, authority.unwrap_or_default());
                content.extend_from_slice(&(keys.len() as u32).to_le_bytes());
                keys.iter().for_each(|key| write_counted(&mut content, key));
                KeyFile::BundleWithPublicKeys
            }
        };
        content.extend_from_slice(&self.profile);
        kind.write_secret(path, &content, *protection, rng)
    }

    /// Returns the most bytes that the content takes.
    fn content_bytes(&self) -> usize {
        let keys = match &self.keys {
            DeviceKeys::Secret(_) => 32,
            DeviceKeys::Public(keys) => LENGTH + keys.iter().map(|key| LENGTH + key.len()).sum::<usize>(),
        };
        let authority = self.authority.as_ref().map_or(0, Vec::len);
        keys + 32 + LENGTH + self.cloud.len() + LENGTH + authority + self.profile.len()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`KeyFileError`] if the file cannot be read, others may read it, it is damaged or not a bundle, or the
    /// passphrase does not fit.
    pub fn read(path: &Path, passphrase: Option<&str>) -> Result<Self, KeyFileError> {
        Self::parse(&read_private(path, KeyFile::BundleWithPublicKeys.largest())?, path, passphrase)
    }

    /// Decodes the bytes of a file; `path` names the file in errors.
    ///
    /// # Errors
    /// Those of [`DeviceBundle::read`], except for I/O and the file's mode.
    pub fn parse(bytes: &[u8], path: &Path, passphrase: Option<&str>) -> Result<Self, KeyFileError> {
        let kinds = [KeyFile::BundleWithAuthority, KeyFile::BundleWithPublicKeys];
        let kind = kinds.into_iter().find(|kind| kind.is_kind_of(bytes)).unwrap_or(KeyFile::Bundle);
        Self::parse_content(kind, &kind.parse_secret(bytes, path, passphrase.into())?, path)
    }

    fn parse_content(kind: KeyFile, content: &[u8], path: &Path) -> Result<Self, KeyFileError> {
        let mut rest = Rest { bytes: content, path };
        let with_public_keys = kind == KeyFile::BundleWithPublicKeys;
        let secret = if with_public_keys { None } else { Some(DeviceSecret::from_bytes(rest.array()?)) };
        let identity = SigningIdentity::from_bytes(rest.array()?);
        let cloud = rest.counted(LONGEST_CLOUD, "is damaged: the cloud's address is too long")?;
        let cloud =
            core::str::from_utf8(cloud).map_err(|_| damaged(path, "is damaged: the address is no text"))?;
        let authority = match kind {
            KeyFile::Bundle => None,
            _ => Some(
                rest.counted(LONGEST_AUTHORITY, "is damaged: the authority's certificates are too long")?,
            ),
        };
        let keys = match secret {
            Some(secret) => DeviceKeys::Secret(secret),
            None => DeviceKeys::Public(rest.public_keys()?),
        };
        // Beside public keys, an authority without certificates stands for none.
        let authority = authority.filter(|authority| !(with_public_keys && authority.is_empty()));
        Ok(Self {
            keys,
            identity,
            cloud: cloud.to_owned(),
            authority: authority.map(<[u8]>::to_vec),
            profile: rest.bytes.to_vec(),
        })
    }
}

/// The bytes of a content that are not read yet.
struct Rest<'b> {
    bytes: &'b [u8],
    path: &'b Path,
}

impl<'b> Rest<'b> {
    fn cut(&self) -> KeyFileError {
        damaged(self.path, "is damaged: it ends too early")
    }

    fn array<const N: usize>(&mut self) -> Result<&'b [u8; N], KeyFileError> {
        let (array, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.cut())?;
        self.bytes = rest;
        Ok(array)
    }

    fn number(&mut self) -> Result<usize, KeyFileError> {
        Ok(u32::from_le_bytes(*self.array::<LENGTH>()?) as usize)
    }

    /// Returns the bytes behind a length of at most `longest`, else an error with the reason `too_long`.
    fn counted(&mut self, longest: usize, too_long: &'static str) -> Result<&'b [u8], KeyFileError> {
        let length = self.number()?;
        if length > longest {
            return Err(damaged(self.path, too_long));
        }
        let (counted, rest) = self.bytes.split_at_checked(length).ok_or_else(|| self.cut())?;
        self.bytes = rest;
        Ok(counted)
    }

    fn public_keys(&mut self) -> Result<Vec<Vec<u8>>, KeyFileError> {
        let count = self.number()?;
        if !(1..=MOST_PUBLIC_KEYS).contains(&count) {
            return Err(damaged(self.path, "is damaged: it has 1 to 64 public keys"));
        }
        let mut left = LONGEST_PUBLIC_KEYS;
        let mut keys = Vec::with_capacity(count);
        for _ in 0..count {
            let key = self.counted(left, "is damaged: the public keys are too long")?;
            left -= key.len();
            keys.push(key.to_vec());
        }
        Ok(keys)
    }
}

fn write_counted(content: &mut Vec<u8>, bytes: &[u8]) {
    content.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    content.extend_from_slice(bytes);
}

fn damaged(path: &Path, reason: &'static str) -> KeyFileError {
    KeyFileError::Damaged { path: path.display().to_string(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> DeviceKeys {
        DeviceKeys::Secret(DeviceSecret::from_bytes(&[1; 32]))
    }

    fn bundle(keys: DeviceKeys, authority: Option<&[u8]>) -> DeviceBundle {
        DeviceBundle {
            keys,
            identity: SigningIdentity::from_bytes(&[2; 32]),
            cloud: "http://127.0.0.1:7410".into(),
            authority: authority.map(<[u8]>::to_vec),
            profile: b"{}".to_vec(),
        }
    }

    /// Returns the secret's bytes and the public keys.
    fn shown(keys: &DeviceKeys) -> (Option<&[u8; 32]>, &[Vec<u8>]) {
        match keys {
            DeviceKeys::Secret(secret) => (Some(secret.expose_secret_bytes()), &[]),
            DeviceKeys::Public(keys) => (None, keys),
        }
    }

    #[test]
    fn a_bundle_comes_back_as_it_was_and_a_part_of_one_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut rng = sotto_ring::secure_rng().expect("randomness");
        let long = vec![b'x'; LONGEST_AUTHORITY];
        let public = || DeviceKeys::Public(vec![b"one".to_vec(), Vec::new(), vec![3; 70_000]]);
        for (name, keys, authority) in [
            ("old", secret(), None),
            ("empty", secret(), Some(&b""[..])),
            ("short", secret(), Some(b"PEM")),
            ("long", secret(), Some(&long)),
            ("public", public(), None),
            ("public-short", public(), Some(b"PEM")),
        ] {
            let is_public = name.starts_with("public");
            let (path, bundle) = (folder.path().join(name), bundle(keys, authority));
            bundle.write(&path, &Protection::FileMode, &mut rng).expect("written");
            assert!(bundle.write(&path, &Protection::FileMode, &mut rng).is_err(), "overwritten");
            let read = DeviceBundle::read(&path, None).expect("read");
            assert_eq!(shown(&read.keys), shown(&bundle.keys));
            assert_eq!(read.identity.verifying_key(), bundle.identity.verifying_key());
            assert_eq!(
                (read.cloud, read.authority, read.profile),
                (bundle.cloud, bundle.authority, bundle.profile)
            );
            let bytes = std::fs::read(&path).expect("read");
            for length in (0..bytes.len()).step_by(1 + bytes.len() / 500) {
                assert!(DeviceBundle::parse(&bytes[..length], &path, None).is_err(), "{length}");
            }
            assert!(KeyFile::Device.read(&path, None).is_err(), "another kind");
            // Older programs know only this kind.
            let known = KeyFile::Bundle.read_secret(&path, Protection::FileMode).is_ok();
            assert_eq!(known, authority.is_none() && !is_public, "{name}");
        }
        let refused = |bundle: DeviceBundle, rng: &mut _| {
            bundle.write(&folder.path().join("none"), &Protection::FileMode, rng).is_err()
        };
        assert!(refused(bundle(secret(), Some(&[long, vec![0]].concat())), &mut rng));
        for count in [0, MOST_PUBLIC_KEYS + 1] {
            assert!(refused(bundle(DeviceKeys::Public(vec![vec![1]; count]), None), &mut rng), "{count}");
        }
    }

    #[test]
    fn lengths_that_pass_the_end_are_refused() {
        let path = Path::new("a file");
        let content = |of_cloud: u32, of_authority: u32| {
            [&[1; 64][..], &of_cloud.to_le_bytes(), b"http", &of_authority.to_le_bytes(), b"PEM{}"].concat()
        };
        let parse = |content: &[u8]| DeviceBundle::parse_content(KeyFile::BundleWithAuthority, content, path);
        assert_eq!(parse(&content(4, 3)).expect("a bundle").profile, b"{}");
        for (of_cloud, of_authority) in
            [(u32::MAX, 3), (14, 3), (4, 6), (4, u32::MAX), (4, 1 + LONGEST_AUTHORITY as u32)]
        {
            assert!(parse(&content(of_cloud, of_authority)).is_err(), "{of_cloud} {of_authority}");
        }
        let content = |count: u32, of_key: u32| {
            let head =
                [&[1; 32][..], &0u32.to_le_bytes(), &0u32.to_le_bytes(), &count.to_le_bytes()].concat();
            [&head, &of_key.to_le_bytes()[..], b"key{}"].concat()
        };
        let parse =
            |content: &[u8]| DeviceBundle::parse_content(KeyFile::BundleWithPublicKeys, content, path);
        let read = parse(&content(1, 3)).expect("a bundle");
        assert_eq!((shown(&read.keys).1, read.profile), (&[b"key".to_vec()][..], b"{}".to_vec()));
        for (count, of_key) in [(0, 3), (2, 3), (65, 3), (u32::MAX, 3), (1, 6), (1, u32::MAX)] {
            assert!(parse(&content(count, of_key)).is_err(), "{count} {of_key}");
        }
    }
}
