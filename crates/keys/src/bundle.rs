//! The bundle: the one file that a device needs. It holds the device's secrets, its cloud's address and its
//! profile.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use std::path::Path;

use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use crate::file::{KeyFile, KeyFileError, Protection, read_private};
use crate::lengths::{HEAD, LONGEST_AUTHORITY, LONGEST_CLOUD, LONGEST_PROFILE};
use crate::{DeviceSecret, SigningIdentity};

/// Everything that a device receives when it is enrolled. Anybody with a copy of the file can read all data
/// of the device and send in its name.
///
/// ```
/// use sotto_keys::{DeviceBundle, DeviceSecret, Protection, SigningIdentity};
///
/// # let folder = tempfile::tempdir()?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let boiler = DeviceBundle {
///     secret: DeviceSecret::generate(&mut rng),
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
    /// The secret from which the device's keys are derived.
    pub secret: DeviceSecret,
    /// The identity with which the device signs.
    pub identity: SigningIdentity,
    /// The cloud's address, at most [`LONGEST_CLOUD`] bytes.
    pub cloud: String,
    /// PEM certificates of the authority that signs the cloud's certificate, at most [`LONGEST_AUTHORITY`]
    /// bytes, not parsed here. None: a public authority, or no TLS.
    pub authority: Option<Vec<u8>>,
    /// The device's profile as JSON, at most [`LONGEST_PROFILE`] bytes, not parsed here.
    pub profile: Vec<u8>,
}

impl DeviceBundle {
    /// Writes a new file with mode 0600; an existing file is never overwritten. Older programs can read a
    /// bundle without an authority.
    ///
    /// # Errors
    /// [`KeyFileError`] if the address, the authority or the profile is too long, or the file cannot be
    /// written.
    pub fn write(
        &self,
        path: &Path,
        protection: &Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<(), KeyFileError> {
        let (cloud, profile) = (self.cloud.as_bytes(), &self.profile);
        let authority = self.authority.as_deref();
        if cloud.len() > LONGEST_CLOUD
            || profile.len() > LONGEST_PROFILE
            || authority.is_some_and(|authority| authority.len() > LONGEST_AUTHORITY)
        {
            return Err(damaged(
                path,
                "cannot be written: the address, the authority or the profile is too long",
            ));
        }
        let of_authority = authority.map_or(0, |authority| 4 + authority.len());
        let mut content =
            Zeroizing::new(Vec::with_capacity(HEAD + cloud.len() + of_authority + profile.len()));
        content.extend_from_slice(self.secret.expose_secret_bytes());
        content.extend_from_slice(self.identity.expose_secret_bytes());
        content.extend_from_slice(&(cloud.len() as u32).to_le_bytes());
        content.extend_from_slice(cloud);
        if let Some(authority) = authority {
            content.extend_from_slice(&(authority.len() as u32).to_le_bytes());
            content.extend_from_slice(authority);
        }
        content.extend_from_slice(profile);
        let kind = if authority.is_some() { KeyFile::BundleWithAuthority } else { KeyFile::Bundle };
        kind.write_secret(path, &content, protection, rng)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`KeyFileError`] if the file cannot be read, others may read it, it is damaged or not a bundle, or the
    /// passphrase does not fit.
    pub fn read(path: &Path, passphrase: Option<&str>) -> Result<Self, KeyFileError> {
        Self::parse(&read_private(path, KeyFile::BundleWithAuthority.largest())?, path, passphrase)
    }

    /// Decodes the bytes of a file; `path` names the file in errors.
    ///
    /// # Errors
    /// Those of [`DeviceBundle::read`], except for I/O and the file's mode.
    pub fn parse(bytes: &[u8], path: &Path, passphrase: Option<&str>) -> Result<Self, KeyFileError> {
        let kind = match KeyFile::BundleWithAuthority.is_kind_of(bytes) {
            true => KeyFile::BundleWithAuthority,
            false => KeyFile::Bundle,
        };
        Self::parse_content(kind, &kind.parse_secret(bytes, path, passphrase)?, path)
    }

    fn parse_content(kind: KeyFile, content: &[u8], path: &Path) -> Result<Self, KeyFileError> {
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
        let (authority, profile) = if kind == KeyFile::BundleWithAuthority {
            let (length, rest) = profile.split_first_chunk::<4>().ok_or_else(cut)?;
            let length = u32::from_le_bytes(*length) as usize;
            if length > LONGEST_AUTHORITY {
                return Err(damaged(path, "is damaged: the authority's certificates are too long"));
            }
            let (authority, profile) = rest.split_at_checked(length).ok_or_else(cut)?;
            (Some(authority.to_vec()), profile)
        } else {
            (None, profile)
        };
        Ok(Self {
            secret: DeviceSecret::from_bytes(secret),
            identity: SigningIdentity::from_bytes(identity),
            cloud: cloud.to_owned(),
            authority,
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

    fn bundle(authority: Option<&[u8]>) -> DeviceBundle {
        DeviceBundle {
            secret: DeviceSecret::from_bytes(&[1; 32]),
            identity: SigningIdentity::from_bytes(&[2; 32]),
            cloud: "http://127.0.0.1:7410".into(),
            authority: authority.map(<[u8]>::to_vec),
            profile: b"{}".to_vec(),
        }
    }

    #[test]
    fn a_bundle_comes_back_as_it_was_and_a_part_of_one_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut rng = sotto_ring::secure_rng().expect("randomness");
        let long = vec![b'x'; LONGEST_AUTHORITY];
        for (name, authority) in
            [("old", None), ("empty", Some(&b""[..])), ("short", Some(b"PEM")), ("long", Some(&long))]
        {
            let (path, bundle) = (folder.path().join(name), bundle(authority));
            bundle.write(&path, &Protection::FileMode, &mut rng).expect("written");
            assert!(bundle.write(&path, &Protection::FileMode, &mut rng).is_err(), "overwritten");
            let read = DeviceBundle::read(&path, None).expect("read");
            assert_eq!(read.secret.expose_secret_bytes(), &[1; 32]);
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
            assert_eq!(KeyFile::Bundle.read_secret(&path, None).is_ok(), authority.is_none(), "{name}");
        }
        let too_long = bundle(Some(&[long, vec![0]].concat()));
        assert!(too_long.write(&folder.path().join("none"), &Protection::FileMode, &mut rng).is_err());
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
    }
}
