//! A passphrase set, changed and removed, step by step: after each step every secret opens, and the command finishes what
//! an earlier one began.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sotto_keys::{KeyFile, PlantKey, Protected, Protection};
use sotto_ring::secure_rng;
use zeroize::Zeroizing;

use super::clear::InTheClear;
use super::error::SecretsError;
use super::files::{CLEAR, KEY, LOCK, Secrets, clear_form};
use super::unlock::{checked, opened};
use crate::error::{OwnerError, io};
use crate::files::{make_folder, make_private, remove_if_there, write_private};
use crate::links::refuse_links;

/// One change of the folder, which a crash leaves done or not done.
type Step<'a> = Box<dyn FnOnce() -> Result<(), OwnerError> + 'a>;

/// Kind and secret of a file.
type Parts = (KeyFile, Zeroizing<Vec<u8>>);

/// The change of one secret's file.
#[derive(Clone, Copy)]
enum To {
    Sealed,
    Clear,
}

impl Secrets {
    /// Seals all secrets under a new key, and that key under the passphrase.
    pub(crate) fn set_passphrase(&self, passphrase: &str) -> Result<(), OwnerError> {
        let _lock = self.lock_changes()?;
        self.refuse_links()?;
        let key = match self.key_file()? {
            // Finishes a command that was interrupted.
            Some(file) if self.are_changing() => {
                opened(&self.path(KEY), &file, passphrase, "that was given")?
            }
            Some(_) => return Err(SecretsError::HasPassphrase.into()),
            None => {
                self.are_none_sealed()?;
                PlantKey::generate(&mut secure_rng().map_err(|_| OwnerError::Randomness)?)
            }
        };
        let passphrase = checked(Zeroizing::new(passphrase.to_owned()))?;
        self.setting(&key, &passphrase)?.into_iter().try_for_each(|step| step())
    }

    fn setting<'a>(&'a self, key: &'a PlantKey, passphrase: &'a str) -> Result<Vec<Step<'a>>, OwnerError> {
        let files = self.all()?;
        let mut steps: Vec<Step<'a>> = Vec::new();
        if !self.are_sealed() {
            let list = self.list(key, &files)?;
            steps.push(Box::new(move || write_private(&self.path(CLEAR), &list)));
            steps.push(Box::new(|| {
                let file = plant_file(key, passphrase)?;
                make_private(&self.path(KEY), &file)
            }));
        }
        steps.extend(files.into_iter().map(|path| {
            let step: Step<'a> = Box::new(move || self.change(&path, key, To::Sealed));
            step
        }));
        steps.push(Box::new(|| self.sweep()));
        steps.push(Box::new(|| remove_if_there(&self.path(CLEAR))));
        Ok(steps)
    }

    /// Replaces the passphrase: the file of the plant's key is written anew.
    pub(crate) fn change_passphrase(&self, passphrase: &str) -> Result<(), OwnerError> {
        let _lock = self.lock_changes()?;
        self.refuse_links()?;
        let key = self.key()?.ok_or(SecretsError::NoPassphrase)?;
        let passphrase = checked(Zeroizing::new(passphrase.to_owned()))?;
        write_private(&self.path(KEY), &plant_file(key, &passphrase)?)
    }

    /// Writes all secrets in the clear, and puts the plant's key aside.
    pub(crate) fn remove_passphrase(&self) -> Result<(), OwnerError> {
        let _lock = self.lock_changes()?;
        self.refuse_links()?;
        let key = self.key()?.ok_or(SecretsError::NoPassphrase)?;
        self.removing(key)?.into_iter().try_for_each(|step| step())
    }

    fn removing<'a>(&'a self, key: &'a PlantKey) -> Result<Vec<Step<'a>>, OwnerError> {
        let files = self.all()?;
        let list = self.list(key, &files)?;
        let mut steps: Vec<Step<'a>> = Vec::new();
        steps.push(Box::new(move || write_private(&self.path(CLEAR), &list)));
        steps.extend(files.into_iter().map(|path| {
            let step: Step<'a> = Box::new(move || self.change(&path, key, To::Clear));
            step
        }));
        steps.push(Box::new(|| self.put_aside(&self.path(KEY)).map(drop)));
        steps.push(Box::new(|| remove_if_there(&self.path(CLEAR))));
        Ok(steps)
    }

    /// Seals one secret that its owner has put into the folder in the clear.
    pub(crate) fn seal_one(&self, path: &Path) -> Result<(), OwnerError> {
        let _lock = self.lock_changes()?;
        self.refuse_links()?;
        let key = self.key()?.ok_or(SecretsError::NoPassphrase)?;
        match self.parts(path, &KeyFile::Document.load(path)?, key)? {
            Some((kind, secret)) => self.replace(path, kind, &secret, key, To::Sealed),
            None => Ok(()),
        }
    }

    /// Moves a file of this folder into `old`, with the time in its name. Returns its new path.
    pub(crate) fn put_aside(&self, path: &Path) -> Result<PathBuf, OwnerError> {
        let old = self.path("old");
        make_folder(&old, true)?;
        let mut file = path.file_name().unwrap_or_default().to_owned();
        file.push(format!(".{}", jiff::Timestamp::now().as_millisecond()));
        let aside = old.join(file);
        moved(path, &aside, |from, to| fs::hard_link(from, to)).map_err(io(&aside))?;
        Ok(aside)
    }

    /// Returns the sealed list of the secrets as they are in the clear.
    fn list(&self, key: &PlantKey, files: &[PathBuf]) -> Result<Zeroizing<Vec<u8>>, OwnerError> {
        let (mut list, earlier) = (InTheClear::default(), self.clear_ones(key)?);
        for path in files {
            let bytes = KeyFile::Document.load(path)?;
            let is_clear = !matches!(KeyFile::protected(&bytes), Some(Protected::PlantKey(_)));
            // A foreign file in a plant with a passphrase stays foreign.
            if is_clear && self.are_sealed() && !earlier.holds(key, &bytes) {
                continue;
            }
            if let Some((kind, secret)) = self.parts(path, &bytes, key)? {
                list.add(key, &clear_form(kind, &secret)?);
                // A text in a key file in the clear, or one as this version would not write it.
                list.add(key, &bytes);
            }
        }
        let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
        Ok(KeyFile::Document.encode(&list.bytes(), Protection::PlantKey { key, name: CLEAR }, &mut rng)?)
    }

    /// Brings the file of one secret into another form, unless it has that form or is foreign.
    fn change(&self, path: &Path, key: &PlantKey, to: To) -> Result<(), OwnerError> {
        let bytes = KeyFile::Document.load(path)?;
        let is_sealed = matches!(KeyFile::protected(&bytes), Some(Protected::PlantKey(_)));
        if is_sealed == matches!(to, To::Sealed) || !is_sealed && !self.clear_ones(key)?.holds(key, &bytes) {
            return Ok(());
        }
        match self.parts(path, &bytes, key)? {
            Some((kind, secret)) => self.replace(path, kind, &secret, key, to),
            None => Ok(()),
        }
    }

    /// Replaces a secret's file by another form of the same secret, once that has been opened again.
    fn replace(
        &self,
        path: &Path,
        kind: KeyFile,
        secret: &[u8],
        key: &PlantKey,
        to: To,
    ) -> Result<(), OwnerError> {
        let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
        let bytes = match to {
            To::Sealed => {
                let protection = Protection::PlantKey { key, name: &self.name_of(path) };
                kind.encode(secret, protection, &mut rng)?
            }
            To::Clear => clear_form(kind, secret)?,
        };
        let again = self.parts(path, &bytes, key)?;
        if !again.is_some_and(|(same, again)| same == kind && *again == *secret) {
            let reason = "it does not open in its new form; the file is unchanged".to_owned();
            return Err(OwnerError::Damaged { path: path.to_owned(), reason });
        }
        write_private(path, &bytes)
    }

    /// Returns kind and secret of a file, in the clear or sealed. None if it is under a passphrase of its own, or another
    /// plant's key.
    pub(super) fn parts(
        &self,
        path: &Path,
        bytes: &[u8],
        key: &PlantKey,
    ) -> Result<Option<Parts>, OwnerError> {
        let kind = KeyFile::of(bytes).unwrap_or(KeyFile::Document);
        let name = self.name_of(path);
        let protection = match KeyFile::protected(bytes) {
            None => return Ok(Some((KeyFile::Document, Zeroizing::new(bytes.to_vec())))),
            Some(Protected::Passphrase) => return Ok(None),
            Some(Protected::FileMode) => Protection::FileMode,
            Some(Protected::PlantKey(of_key)) if of_key != key.name() => return Ok(None),
            Some(Protected::PlantKey(_)) => Protection::PlantKey { key, name: &name },
        };
        Ok(Some((kind, kind.parse_bytes(bytes, path, protection)?)))
    }

    /// Deletes what interrupted writes left, which may be secrets in the clear.
    fn sweep(&self) -> Result<(), OwnerError> {
        for folder in [self.folder().to_owned(), self.path("old")] {
            let entries = match fs::read_dir(&folder) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                entries => entries.map_err(io(&folder))?,
            };
            for entry in entries {
                let path = entry.map_err(io(&folder))?.path();
                if path.extension().is_some_and(|ending| ending == "partial") {
                    remove_if_there(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses links: sealing would replace them, and leave their files in the clear.
    fn refuse_links(&self) -> Result<(), OwnerError> {
        self.folder().parent().map_or(Ok(()), refuse_links)
    }

    fn lock_changes(&self) -> Result<File, OwnerError> {
        let path = self.path(LOCK);
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let lock = options.write(true).create(true).truncate(false).open(&path).map_err(io(&path))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(SecretsError::InUse.into()),
            Err(TryLockError::Error(error)) => Err(io(&path)(error)),
        }
    }
}

/// Moves a file to a name that is free: by `link`, as a renaming would replace a file of that name.
fn moved(
    from: &Path,
    to: &Path,
    link: impl FnOnce(&Path, &Path) -> std::io::Result<()>,
) -> std::io::Result<()> {
    match link(from, to) {
        // File systems without links, such as FAT.
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) => {
            if to.symlink_metadata().is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            fs::rename(from, to)
        }
        linked => linked.and_then(|()| fs::remove_file(from)),
    }
}

fn plant_file(key: &PlantKey, passphrase: &str) -> Result<Zeroizing<Vec<u8>>, OwnerError> {
    let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
    Ok(KeyFile::Plant.encode(key.expose_secret_bytes(), Protection::Passphrase(passphrase), &mut rng)?)
}

#[cfg(test)]
mod tests;
