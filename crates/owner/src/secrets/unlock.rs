//! Ways to the passphrase of a plant.

use std::env;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sotto_keys::{KeyFile, KeyFileError, PlantKey, Protection};
use zeroize::Zeroizing;

use super::error::{LEAST, SecretsError};
use super::keyring;
use crate::error::OwnerError;
use crate::files::{is_open_to_others, read_text};

/// Largest file of a passphrase, in bytes.
const LARGEST: u64 = 4096;

/// The name of systemd's credential.
const CREDENTIAL: &str = "sotto";

/// Asks a person for the passphrase.
type Ask = fn() -> io::Result<Zeroizing<String>>;

/// Ways to the passphrase of a plant, tried in this order: the file that is named here, systemd's credential `sotto`
/// (`$CREDENTIALS_DIRECTORY/sotto`), the kernel's keyring (where [`Plant::unlock_for`](crate::Plant::unlock_for) keeps the
/// plant's key), a question to a person.
///
/// ```
/// use sotto_owner::{NewPlant, Plant, Unlock};
///
/// # let folder = tempfile::tempdir()?;
/// # let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let dairy = folder.path().join("dairy");
/// # Plant::init(&dairy, &here)?.set_passphrase("correct horse")?; // `dairy` is a plant with this passphrase
/// let file = folder.path().join("passphrase");
/// # sotto_keys::make_private(&file, b"correct horse\n")?;
/// let plant = Plant::open(&dairy)?.unlocking(Unlock::by_file(file));
/// plant.open_secrets()?;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Unlock {
    given: Option<Zeroizing<String>>,
    file: Option<PathBuf>,
    ask: Option<Ask>,
}

impl fmt::Debug for Unlock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Unlock")
            .field("given", &self.given.is_some())
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Unlock {
    /// Takes the passphrase from a file: its text without the line's end.
    #[must_use]
    pub fn by_file(file: impl Into<PathBuf>) -> Self {
        Self { file: Some(file.into()), ..Self::default() }
    }

    /// Takes this passphrase, and no other way.
    #[must_use]
    pub fn by_passphrase(passphrase: Zeroizing<String>) -> Self {
        Self { given: Some(passphrase), ..Self::default() }
    }

    /// Asks a person if nothing else gives the passphrase.
    #[must_use]
    pub fn asking(self, ask: Ask) -> Self {
        Self { ask: Some(ask), ..self }
    }

    /// Reads the passphrase in a file.
    ///
    /// # Errors
    /// [`SecretsError::OpenToOthers`] if others may read it, [`SecretsError::ShortPassphrase`] if it is too short; another
    /// [`OwnerError`] if it cannot be read.
    pub fn passphrase_in(file: &Path) -> Result<Zeroizing<String>, OwnerError> {
        checked(Self::password_in(file)?)
    }

    /// Reads a password of another program in a file, without the line's end.
    ///
    /// # Errors
    /// [`SecretsError::OpenToOthers`] if others may read it; another [`OwnerError`] if it cannot be read.
    pub fn password_in(file: &Path) -> Result<Zeroizing<String>, OwnerError> {
        // A pipe, as of a shell's `<(…)`, has no mode that says anything.
        if file.is_file() && is_open_to_others(file) {
            return Err(SecretsError::OpenToOthers { path: file.to_owned() }.into());
        }
        let text = Zeroizing::new(read_text(file, LARGEST)?);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        Ok(Zeroizing::new(line.strip_suffix('\r').unwrap_or(line).to_owned()))
    }

    /// Opens the plant's key in `path`, whose bytes are `file`, without asking a person. Returns None if there is no way.
    pub(super) fn open_alone(&self, path: &Path, file: &[u8]) -> Result<Option<PlantKey>, OwnerError> {
        if let Some(passphrase) = &self.given {
            return opened(path, file, passphrase, "that was given").map(Some);
        }
        let credential =
            env::var_os("CREDENTIALS_DIRECTORY").map(|folder| Path::new(&folder).join(CREDENTIAL));
        let files = self.file.clone().into_iter().chain(credential.filter(|path| path.exists()));
        if let Some(from) = files.into_iter().next() {
            let passphrase = Self::passphrase_in(&from)?;
            return opened(path, file, &passphrase, &format!("in {}", from.display())).map(Some);
        }
        Ok(PlantKey::name_of(file).and_then(keyring::kept))
    }

    /// Opens the plant's key; asks a person if there is no other way.
    pub(super) fn open(&self, path: &Path, file: &[u8]) -> Result<PlantKey, OwnerError> {
        if let Some(key) = self.open_alone(path, file)? {
            return Ok(key);
        }
        let locked = || SecretsError::Locked { path: path.to_owned() };
        let ask = self.ask.ok_or_else(locked)?;
        let passphrase = ask().map_err(|_| locked())?;
        opened(path, file, &passphrase, "that was typed")
    }
}

/// Refuses a short passphrase.
pub(super) fn checked(passphrase: Zeroizing<String>) -> Result<Zeroizing<String>, OwnerError> {
    if passphrase.chars().count() < LEAST {
        return Err(SecretsError::ShortPassphrase.into());
    }
    Ok(passphrase)
}

/// Opens the plant's key in `path`, whose bytes are `file`; `from` says where the passphrase came from.
pub(super) fn opened(path: &Path, file: &[u8], passphrase: &str, from: &str) -> Result<PlantKey, OwnerError> {
    match KeyFile::Plant.parse(file, path, Protection::Passphrase(passphrase)) {
        Ok(bytes) => Ok(PlantKey::from_bytes(&bytes)),
        Err(KeyFileError::Passphrase { .. }) if KeyFile::of(file) == Some(KeyFile::Plant) => {
            Err(SecretsError::WrongPassphrase { from: from.to_owned(), path: path.to_owned() }.into())
        }
        Err(error) => Err(error.into()),
    }
}
