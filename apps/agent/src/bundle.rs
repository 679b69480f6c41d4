//! A device's bundle: its keys, its profile, and the way to its cloud.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sotto_http::{LARGEST_AUTHORITY, NotAnAuthority, Trust};
use sotto_keys::{DeviceBundle, DeviceKeys, KeyFileError, SigningIdentity};
use sotto_pack::{DeviceProfile, ProfileError};

/// Reason why a bundle, or a file given beside it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file cannot be read.
    #[error("{path} cannot be read: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The file is longer than this kind of file may be.
    #[error("{path} is too long: it may have {limit} bytes")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Maximum bytes.
        limit: u64,
    },
    /// The profile is refused.
    #[error("{path}: {reason}")]
    Profile {
        /// The bundle's file.
        path: PathBuf,
        /// The first fault of the profile.
        reason: ProfileError,
    },
    /// The authority's certificate is refused.
    #[error("{path}: {reason}")]
    Authority {
        /// The file, or the bundle that contains it.
        path: PathBuf,
        /// The fault of the certificate.
        reason: NotAnAuthority,
    },
    /// The file is of another kind, or cannot be read.
    #[error("{0}; pass the bundle that the owner made for this device, such as boiler.bundle")]
    NotABundle(KeyFileError),
    /// The bundle is refused.
    #[error(transparent)]
    Key(#[from] KeyFileError),
}

/// Everything that the owner gave the device.
pub struct Bundle {
    /// The file.
    path: PathBuf,
    /// The device's streams.
    pub profile: DeviceProfile,
    /// The key with which the device signs.
    pub identity: Arc<SigningIdentity>,
    /// The keys with which it encrypts.
    pub keys: DeviceKeys,
    /// The address of its cloud.
    pub cloud: String,
    /// The authorities that may sign the cloud's certificate, as PEM.
    authority: Option<Vec<u8>>,
}

impl Bundle {
    /// Reads a bundle and the profile in it.
    ///
    /// # Errors
    /// [`BundleError`] names the file and the reason.
    pub fn read(path: &Path) -> Result<Self, BundleError> {
        let bundle = DeviceBundle::read(path, None).map_err(|error| match error {
            KeyFileError::Io { .. } | KeyFileError::Damaged { .. } => BundleError::NotABundle(error),
            other => BundleError::Key(other),
        })?;
        let DeviceBundle { keys, identity, cloud, authority, profile } = bundle;
        let (path, identity) = (path.to_owned(), Arc::new(identity));
        match DeviceProfile::parse(&profile) {
            Ok(profile) => Ok(Self { path, profile, identity, keys, cloud, authority }),
            Err(reason) => Err(BundleError::Profile { path, reason }),
        }
    }

    /// Returns the authorities in the bundle, as PEM; `None` for Mozilla's list.
    #[cfg(feature = "gateway")]
    pub(crate) fn authority(&self) -> Option<&[u8]> {
        self.authority.as_deref()
    }

    /// Returns the authorities to trust: those of the file `ca`, else those in the bundle, else Mozilla's list.
    ///
    /// # Errors
    /// [`BundleError`] names the file and the reason.
    pub fn trust(&self, ca: Option<&Path>) -> Result<Trust, BundleError> {
        match (ca, &self.authority) {
            (Some(path), _) => authorities(path),
            (None, Some(pem)) => pinned(&self.path, pem),
            (None, None) => Ok(Trust::default()),
        }
    }
}

/// Reads a file with authorities to trust, as PEM.
///
/// # Errors
/// [`BundleError`] names the file and the reason.
pub(crate) fn authorities(path: &Path) -> Result<Trust, BundleError> {
    pinned(path, &read(path, LARGEST_AUTHORITY as u64)?)
}

fn pinned(path: &Path, pem: &[u8]) -> Result<Trust, BundleError> {
    Trust::pinned(pem).map_err(|reason| BundleError::Authority { path: path.to_owned(), reason })
}

/// Returns the path of the spool beside a bundle: `boiler.spool` for `boiler.bundle`.
#[must_use]
pub fn spool_of(bundle: &Path) -> PathBuf {
    bundle.with_extension("spool")
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, BundleError> {
    let failed = |error| BundleError::Io { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(BundleError::TooLong { path: path.to_owned(), limit });
    }
    Ok(bytes)
}
