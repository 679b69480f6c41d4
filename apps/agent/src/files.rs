//! The files of a device: its profile and its keys.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sotto_keys::{DeviceBundle, DeviceSecret, KeyFile, KeyFileError, Protection, SigningIdentity};
use sotto_pack::{DeviceProfile, LARGEST_PROFILE, ProfileError};
use sotto_ring::RandomnessUnavailable;
use sotto_trust::{LARGEST_AUTHORITY, NotAnAuthority, Trust};

use crate::arguments::RunArguments;
use crate::encrypt::{DeviceKey, PublicKeyFile};

/// Maximum bytes of a public key file; every supported parameter set stays below.
const LARGEST_PUBLIC_KEY: u64 = 64 << 20;

/// Reason why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
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
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: ProfileError,
    },
    /// The authority's certificate is refused.
    #[error("{path}: {reason}")]
    Authority {
        /// The file, or the bundle that contains it.
        path: PathBuf,
        /// The reason.
        reason: NotAnAuthority,
    },
    /// The bundle is refused.
    #[error("{0}; pass the bundle that the owner made for this device, such as boiler.bundle")]
    Bundle(KeyFileError),
    /// An argument is missing that is required without a bundle.
    #[error("{0} is missing: pass it, or --bundle FILE")]
    Missing(&'static str),
    /// The key file is refused.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// A key cannot be made.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

/// Everything that a device needs to run.
pub struct Setup {
    /// Its profile.
    pub profile: DeviceProfile,
    /// The key with which it signs.
    pub identity: SigningIdentity,
    /// The keys with which it encrypts.
    pub key: DeviceKey,
    /// The address of its cloud.
    pub cloud: String,
    /// The authorities that may sign the cloud's certificate.
    pub trust: Trust,
    /// The folder of its spool.
    pub spool: PathBuf,
}

impl Setup {
    /// Reads the bundle, or the separate files if there is none.
    ///
    /// # Errors
    /// [`FileError`] names the file and the reason.
    pub fn read(arguments: &RunArguments) -> Result<Self, FileError> {
        let RunArguments { bundle: path, profile: profile_path, signing_key, cloud, ca, spool, .. } =
            arguments;
        if let Some(path) = path {
            let (bundle, profile) = bundle(path)?;
            let trust = trust(ca.as_deref(), Some((path, &bundle)))?;
            let DeviceBundle { secret, identity, cloud: enrolled, .. } = bundle;
            let cloud = cloud.clone().unwrap_or(enrolled);
            let spool = spool.clone().unwrap_or_else(|| spool_of(path));
            return Ok(Self { profile, identity, key: DeviceKey::Secret(secret), cloud, trust, spool });
        }
        let missing = FileError::Missing;
        Ok(Self {
            profile: profile(profile_path.as_deref().ok_or(missing("--profile"))?)?,
            identity: signing_identity(signing_key.as_deref().ok_or(missing("--signing-key"))?)?,
            key: device_key(arguments)?,
            cloud: cloud.clone().ok_or(missing("--cloud"))?,
            trust: trust(ca.as_deref(), None)?,
            spool: spool.clone().ok_or(missing("--spool"))?,
        })
    }
}

/// Returns the authorities to trust: the file of `--ca`, else those in the bundle (given with its path), else Mozilla's
/// list.
///
/// # Errors
/// [`FileError`] names the file and the reason.
pub fn trust(ca: Option<&Path>, bundle: Option<(&Path, &DeviceBundle)>) -> Result<Trust, FileError> {
    let pinned = |path: &Path, pem: &[u8]| {
        Trust::pinned(pem).map_err(|reason| FileError::Authority { path: path.to_owned(), reason })
    };
    if let Some(path) = ca {
        return pinned(path, &read(path, LARGEST_AUTHORITY as u64)?);
    }
    match bundle.and_then(|(path, bundle)| Some((path, bundle.authority.as_ref()?))) {
        Some((path, pem)) => pinned(path, pem),
        None => Ok(Trust::default()),
    }
}

/// Reads a bundle and the profile in it.
///
/// # Errors
/// [`FileError`] names the file and the reason.
pub fn bundle(path: &Path) -> Result<(DeviceBundle, DeviceProfile), FileError> {
    let bundle = DeviceBundle::read(path, None).map_err(|error| match error {
        KeyFileError::Io { .. } | KeyFileError::Damaged { .. } => FileError::Bundle(error),
        other => FileError::Key(other),
    })?;
    let profile = DeviceProfile::parse(&bundle.profile)
        .map_err(|reason| FileError::Profile { path: path.to_owned(), reason })?;
    Ok((bundle, profile))
}

/// Returns the path of the spool beside a bundle: `boiler.spool` for `boiler.bundle`.
#[must_use]
pub fn spool_of(bundle: &Path) -> PathBuf {
    bundle.with_extension("spool")
}

/// Reads a profile.
///
/// # Errors
/// [`FileError`] names the file and the reason.
pub fn profile(path: &Path) -> Result<DeviceProfile, FileError> {
    let json = read(path, LARGEST_PROFILE as u64)?;
    DeviceProfile::parse(&json).map_err(|reason| FileError::Profile { path: path.to_owned(), reason })
}

/// Reads the keys with which the device encrypts.
///
/// # Errors
/// [`FileError`] names the file and the reason.
pub fn device_key(arguments: &RunArguments) -> Result<DeviceKey, FileError> {
    if let Some(path) = &arguments.secret_key {
        let secret = KeyFile::Device.read(path, None)?;
        return Ok(DeviceKey::Secret(DeviceSecret::from_bytes(&secret)));
    }
    let read = |path: &PathBuf| {
        let bytes = read(path, LARGEST_PUBLIC_KEY)?;
        Ok(PublicKeyFile { path: path.clone(), bytes })
    };
    arguments.public_key.iter().map(read).collect::<Result<_, _>>().map(DeviceKey::Public)
}

/// Reads the signing key.
///
/// # Errors
/// [`FileError`] names the file and the reason.
pub fn signing_identity(path: &Path) -> Result<SigningIdentity, FileError> {
    Ok(SigningIdentity::from_bytes(&*KeyFile::Signing.read(path, None)?))
}

/// Reads the signing key; makes the file first if it does not exist.
///
/// # Errors
/// [`FileError`] names the file and the reason.
pub fn enrol(path: &Path) -> Result<SigningIdentity, FileError> {
    if !path.exists() {
        let mut rng = sotto_ring::secure_rng()?;
        let identity = SigningIdentity::generate(&mut rng);
        KeyFile::Signing.write(path, identity.expose_secret_bytes(), &Protection::FileMode, &mut rng)?;
    }
    signing_identity(path)
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let failed = |error| FileError::Io { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(FileError::TooLong { path: path.to_owned(), limit });
    }
    Ok(bytes)
}
