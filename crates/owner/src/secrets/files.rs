//! Files of secrets: read and written as the plant protects them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sotto_keys::{KeyFile, KeyFileError, PlantKey, PlantKeyName, Protected, Protection};
use sotto_ring::secure_rng;
use zeroize::Zeroizing;

use super::clear::InTheClear;
use super::error::SecretsError;
use super::keyring;
use super::unlock::{Unlock, opened};
use crate::error::{OwnerError, io};
use crate::files::make_private;

/// The folder of secrets, mode 0700.
pub(crate) const SECRETS: &str = "secrets";

/// The owner's token, which a cloud on this machine reads too.
pub(crate) const TOKEN: &str = "owner-token";

/// The signing key of a cloud on this machine, which reads it.
pub(crate) const SIGNING: &str = "cloud-signing-key";

/// The plant's key, under a passphrase.
pub(crate) const KEY: &str = "plant-key";

/// The list of secrets in the clear while a passphrase is set or removed.
pub(crate) const CLEAR: &str = "in-the-clear";

/// Held while a passphrase is set, changed or removed.
pub(super) const LOCK: &str = "passphrase.lock";

/// The secrets of a plant's folder, and the key that opens them once it was needed.
#[derive(Clone)]
pub(crate) struct Secrets {
    folder: PathBuf,
    unlock: Unlock,
    opened: Arc<OnceLock<PlantKey>>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Secrets {
    /// The secrets in the folder `secrets` of a plant.
    pub(crate) fn of(plant: &Path) -> Self {
        Self { folder: plant.join(SECRETS), unlock: Unlock::default(), opened: Arc::default() }
    }

    pub(crate) fn unlocking(self, unlock: Unlock) -> Self {
        Self { unlock, ..self }
    }

    /// Returns the path of a secret.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns true if the plant has a passphrase.
    pub(crate) fn are_sealed(&self) -> bool {
        self.path(KEY).exists()
    }

    /// Returns the bytes of the file with the plant's key, which is under the passphrase; None if there is none.
    pub(crate) fn key_file(&self) -> Result<Option<Zeroizing<Vec<u8>>>, OwnerError> {
        let path = self.path(KEY);
        if path.exists() { Ok(Some(KeyFile::Plant.load(&path)?)) } else { Ok(None) }
    }

    fn key_name(&self) -> Result<Option<PlantKeyName>, OwnerError> {
        Ok(self.key_file()?.and_then(|file| PlantKey::name_of(&file)))
    }

    /// Returns the plant's key, opened by the passphrase, which a person may be asked for. None if the plant has none.
    pub(crate) fn key(&self) -> Result<Option<&PlantKey>, OwnerError> {
        self.opened_by(|path, file| self.unlock.open(path, file).map(Some))
    }

    /// Returns the plant's key if it can be opened without asking a person.
    pub(crate) fn key_at_hand(&self) -> Result<Option<&PlantKey>, OwnerError> {
        self.opened_by(|path, file| self.unlock.open_alone(path, file))
    }

    fn opened_by(
        &self,
        open: impl FnOnce(&Path, &[u8]) -> Result<Option<PlantKey>, OwnerError>,
    ) -> Result<Option<&PlantKey>, OwnerError> {
        let Some(file) = self.key_file()? else { return Ok(None) };
        if self.opened.get().is_none() {
            let Some(key) = open(&self.path(KEY), &file)? else { return Ok(None) };
            // Another thread may have opened it meanwhile.
            let _ = self.opened.set(key);
        }
        Ok(self.opened.get())
    }

    /// Returns these secrets for a plant that is opened anew. An opened key stays, unless the plant has another one.
    pub(crate) fn reopened(&self) -> Result<Self, OwnerError> {
        let name = self.key_name()?;
        let is_same = self.opened.get().map(PlantKey::name) == name;
        let opened = if is_same { Arc::clone(&self.opened) } else { Arc::default() };
        Ok(Self { folder: self.folder.clone(), unlock: self.unlock.clone(), opened })
    }

    /// Reads a secret. `Document` is a text, which stands in no key file while it is in the clear.
    pub(crate) fn read(&self, kind: KeyFile, path: &Path) -> Result<Zeroizing<Vec<u8>>, OwnerError> {
        let bytes = kind.load(path)?;
        let is_sealed = matches!(KeyFile::protected(&bytes), Some(Protected::PlantKey(_)));
        let Some(key) = self.key()? else {
            if is_sealed {
                return Err(SecretsError::NoPlantKey { path: path.to_owned() }.into());
            }
            return in_the_clear(kind, path, &bytes);
        };
        if is_sealed {
            return Ok(kind.parse_bytes(
                &bytes,
                path,
                Protection::PlantKey { key, name: &self.name_of(path) },
            )?);
        }
        if self.clear_ones(key)?.holds(key, &bytes) {
            return in_the_clear(kind, path, &bytes);
        }
        Err(SecretsError::InTheClear { path: path.to_owned() }.into())
    }

    /// Reads a secret of 32 bytes.
    pub(crate) fn read_key(&self, kind: KeyFile, path: &Path) -> Result<Zeroizing<[u8; 32]>, OwnerError> {
        let bytes = self.read(kind, path)?;
        let damaged = || OwnerError::Damaged { path: path.to_owned(), reason: "it is no key".to_owned() };
        <[u8; 32]>::try_from(bytes.as_slice()).map(Zeroizing::new).map_err(|_| damaged())
    }

    /// Returns a secret if it opens without a question to a person. None if it would need one; the file is whole then.
    pub(crate) fn look_at(
        &self,
        kind: KeyFile,
        path: &Path,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, OwnerError> {
        if !self.are_sealed() || self.key_at_hand()?.is_some() {
            return self.read(kind, path).map(Some);
        }
        let bytes = kind.load(path)?;
        match kind.parse_bytes(&bytes, path, Protection::FileMode) {
            Err(KeyFileError::Passphrase { .. }) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(_) if self.are_changing() => Ok(None),
            Ok(_) => Err(SecretsError::InTheClear { path: path.to_owned() }.into()),
        }
    }

    /// Makes the file of a secret. It never replaces one.
    pub(crate) fn write(&self, kind: KeyFile, path: &Path, secret: &[u8]) -> Result<(), OwnerError> {
        make_private(path, &self.encode(kind, path, secret)?)
    }

    /// Returns the key in a file of the kind `Plant`, which is this plant's or that of a backup in `path`.
    pub(crate) fn key_of(&self, path: &Path, file: &[u8]) -> Result<PlantKey, OwnerError> {
        if self.key_name()?.is_some()
            && self.key_name()? == PlantKey::name_of(file)
            && let Some(key) = self.key()?
        {
            return Ok(PlantKey::from_bytes(key.expose_secret_bytes()));
        }
        self.unlock.open(path, file)
    }

    /// Like [`Self::key_of`]; tries a passphrase first that was given for it.
    pub(crate) fn key_of_given(
        &self,
        path: &Path,
        file: &[u8],
        passphrase: Option<&str>,
    ) -> Result<PlantKey, OwnerError> {
        match passphrase.map(|passphrase| opened(path, file, passphrase, "that was given")) {
            None | Some(Err(OwnerError::Secrets(SecretsError::WrongPassphrase { .. }))) => {
                self.key_of(path, file)
            }
            Some(key) => key,
        }
    }

    pub(super) fn keep_open(&self, key: &PlantKey) {
        let _ = self.opened.set(PlantKey::from_bytes(key.expose_secret_bytes()));
    }

    /// Returns the name under which a secret is sealed: its path below this folder, with `/`. One that was put aside keeps the
    /// name that it had.
    pub(super) fn name_of(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        let names: Vec<_> = below.components().map(|name| name.as_os_str().to_string_lossy()).collect();
        let name = names.join("/");
        name.strip_prefix("old/").map_or(name.as_str(), without_time).to_owned()
    }

    pub(super) fn encode(
        &self,
        kind: KeyFile,
        path: &Path,
        secret: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, OwnerError> {
        let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
        match self.key()? {
            Some(key) => {
                let protection = Protection::PlantKey { key, name: &self.name_of(path) };
                Ok(kind.encode(secret, protection, &mut rng)?)
            }
            None => {
                self.are_none_sealed()?;
                clear_form(kind, secret)
            }
        }
    }

    /// Refuses to go on if secrets are sealed under a key that is missing: others must not stand in the clear beside them.
    pub(crate) fn are_none_sealed(&self) -> Result<(), OwnerError> {
        let is_sealed = |path: &PathBuf| {
            let bytes = KeyFile::Document.load(path).unwrap_or_default();
            matches!(KeyFile::protected(&bytes), Some(Protected::PlantKey(_)))
        };
        match self.secrets_in(&self.folder)?.into_iter().find(is_sealed) {
            Some(path) => Err(SecretsError::NoPlantKey { path }.into()),
            None => Ok(()),
        }
    }

    /// Returns the secrets in the clear in a plant with a passphrase, of which none should be.
    pub(crate) fn strays(&self) -> Result<Vec<PathBuf>, OwnerError> {
        if !self.are_sealed() {
            return Ok(Vec::new());
        }
        Ok(self.all()?.into_iter().filter(|path| is_clear(path)).collect())
    }

    /// Returns true if secrets stand in the clear, as in a plant without a passphrase.
    pub(crate) fn has_clear_ones(&self) -> Result<bool, OwnerError> {
        Ok(self.secrets_in(&self.folder)?.iter().any(|path| is_clear(path)))
    }

    /// Returns true while a passphrase is set or removed, or if that was interrupted.
    pub(crate) fn are_changing(&self) -> bool {
        self.are_sealed() && self.path(CLEAR).exists()
    }

    /// Returns the files that are sealed when the plant has a passphrase: all of the folder and of `old`, but those that a
    /// cloud reads, public ones, and those that are no secrets.
    pub(super) fn all(&self) -> Result<Vec<PathBuf>, OwnerError> {
        let mut files = self.secrets_in(&self.folder)?;
        files.extend(self.secrets_in(&self.path("old"))?);
        files.sort_unstable();
        Ok(files)
    }

    /// Returns the secrets directly in a folder, which may be missing.
    fn secrets_in(&self, folder: &Path) -> Result<Vec<PathBuf>, OwnerError> {
        let mut files = files_in(folder)?;
        files.retain(|path| path.is_file() && self.is_secret(path));
        Ok(files)
    }

    /// Returns false for files that a cloud reads, public ones, and those without a secret, such as all of `flooding`.
    pub(super) fn is_secret(&self, path: &Path) -> bool {
        let name = self.name_of(path);
        let is_known = [TOKEN, SIGNING, KEY, CLEAR, LOCK, "ca.pem"].contains(&name.as_str());
        !is_known && !name.contains('/') && !name.ends_with(".partial")
    }

    /// Returns the list of the secrets that may be in the clear; an empty one unless a passphrase is being set or removed.
    pub(super) fn clear_ones(&self, key: &PlantKey) -> Result<InTheClear, OwnerError> {
        let path = self.path(CLEAR);
        if !path.exists() {
            return Ok(InTheClear::default());
        }
        let file = KeyFile::Document.load(&path)?;
        // A list under another key is left over from an attempt that made none.
        let protection = Protection::PlantKey { key, name: CLEAR };
        let list = KeyFile::Document.parse_bytes(&file, &path, protection).ok();
        Ok(list.and_then(|list| InTheClear::read(&list)).unwrap_or_default())
    }

    /// Keeps the opened key in the kernel's keyring.
    pub(crate) fn keep_for(&self, time: Duration) -> Result<(), OwnerError> {
        let key = self.key()?.ok_or(SecretsError::NoPassphrase)?;
        keyring::keep(key, time).map_err(|reason| SecretsError::Keyring(reason).into())
    }

    /// Removes the key from the kernel's keyring. Returns false if it was not there.
    pub(crate) fn lock(&self) -> Result<bool, OwnerError> {
        let name = self.key_name()?.ok_or(SecretsError::NoPassphrase)?;
        keyring::forget(name).map_err(|reason| SecretsError::Keyring(reason).into())
    }
}

/// Returns the paths in a folder, which may be missing.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, OwnerError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io(folder))?,
    };
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(io(folder))).collect()
}

fn is_clear(path: &Path) -> bool {
    let bytes = KeyFile::Document.load(path).unwrap_or_default();
    matches!(KeyFile::protected(&bytes), None | Some(Protected::FileMode))
}

/// Returns the name that a file had before it was put aside, which appends the time.
fn without_time(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((first, time)) if time.bytes().all(|digit| digit.is_ascii_digit()) => first,
        _ => name,
    }
}

/// Decodes a secret that is in the clear.
fn in_the_clear(kind: KeyFile, path: &Path, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, OwnerError> {
    if kind == KeyFile::Document && KeyFile::of(bytes).is_none() {
        return Ok(Zeroizing::new(bytes.to_vec()));
    }
    Ok(kind.parse_bytes(bytes, path, Protection::FileMode)?)
}

/// Returns the file of a secret in the clear.
pub(super) fn clear_form(kind: KeyFile, secret: &[u8]) -> Result<Zeroizing<Vec<u8>>, OwnerError> {
    let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
    match kind {
        KeyFile::Document => Ok(Zeroizing::new(secret.to_vec())),
        _ => Ok(kind.encode(secret, Protection::FileMode, &mut rng)?),
    }
}
