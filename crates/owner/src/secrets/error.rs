//! Reasons why a plant's secrets cannot be used.

use std::path::PathBuf;

/// Least characters of a passphrase.
pub(super) const LEAST: usize = 8;

/// The reason why the secrets of a plant cannot be opened or sealed.
///
/// ```
/// use sotto_owner::{NewPlant, OwnerError, Plant, SecretsError};
///
/// # let folder = tempfile::tempdir()?;
/// # let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let plant = Plant::init(&folder.path().join("dairy"), &here)?;
/// plant.set_passphrase("correct horse")?; // `plant` had none
/// let again = plant.set_passphrase("battery staple").expect_err("it has one");
/// assert!(matches!(again, OwnerError::Secrets(SecretsError::HasPassphrase)));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// There is a passphrase, which nothing and nobody gave.
    #[error(
        "{} is under a passphrase, and there is no terminal to ask for it: name a file that holds it with --passphrase-file FILE or in \
         SOTTO_PASSPHRASE_FILE, let systemd give it (LoadCredential=sotto:FILE), or run `sotto unlock --for 8h` in a terminal first",
        path.display()
    )]
    Locked {
        /// The file with the key that the passphrase opens: the plant's, or a backup.
        path: PathBuf,
    },
    /// The passphrase does not open the key.
    #[error("the passphrase {from} does not open {}", path.display())]
    WrongPassphrase {
        /// The file with the key: the plant's, or a backup.
        path: PathBuf,
        /// Where the passphrase came from.
        from: String,
    },
    /// The passphrase is too short.
    #[error("a passphrase has at least {least} characters", least = LEAST)]
    ShortPassphrase,
    /// A file of a passphrase that others may read.
    #[error("{} can be read by others: run chmod 600 on it", path.display())]
    OpenToOthers {
        /// The file.
        path: PathBuf,
    },
    /// The plant has a passphrase already.
    #[error("this plant has a passphrase: `sotto passphrase change` replaces it")]
    HasPassphrase,
    /// The plant has no passphrase.
    #[error("this plant has no passphrase: `sotto passphrase set` gives it one")]
    NoPassphrase,
    /// A secret in the clear in a plant that has a passphrase.
    #[error(
        "{} is in the clear, although the plant has a passphrase: somebody may have put it in the place of your own. If it is yours, as \
         from an older copy, run `sotto passphrase seal {}`",
        path.display(), name(path)
    )]
    InTheClear {
        /// The file.
        path: PathBuf,
    },
    /// A sealed secret in a plant without the key that opens it.
    #[error(
        "{} is sealed under the plant's key, and secrets/plant-key is missing: nothing was changed. `sotto restore FILE` brings it back \
         from a backup",
        path.display()
    )]
    NoPlantKey {
        /// The sealed file.
        path: PathBuf,
    },
    /// The owner's signing key is gone.
    #[error(
        "{} is missing: it signs your orders, and devices know it. `sotto restore FILE` brings it back from a backup; without one, `sotto \
         cloud secrets` makes another, which devices believe with their next bundle (`sotto device renew NAME`)",
        path.display()
    )]
    NoOwnerKey {
        /// The file.
        path: PathBuf,
    },
    /// Another process sets, changes or removes the passphrase.
    #[error("another `sotto passphrase` runs on this plant: wait for its end")]
    InUse,
    /// The system has no keyring that keeps a key.
    #[error("the kernel's keyring cannot keep the plant's key: {0}")]
    Keyring(String),
}

fn name(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
