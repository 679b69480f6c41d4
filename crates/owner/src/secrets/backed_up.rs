//! Secrets that come back from a backup, which may protect them otherwise than the plant does.

use std::path::Path;

use sotto_keys::{KeyFile, PlantKey, Protected};
use zeroize::Zeroizing;

use super::files::{KEY, Secrets, clear_form};
use crate::error::OwnerError;
use crate::files::{make_folder, make_private};

impl Secrets {
    /// Returns true if a file here holds the same secret as the bytes of a backup, whatever protects them. `key` opens those
    /// of the backup.
    pub(crate) fn is_same(&self, path: &Path, backed_up: &[u8], key: &PlantKey) -> Result<bool, OwnerError> {
        if !self.is_secret(path) {
            return Ok(false);
        }
        let bytes = KeyFile::Document.load(path)?;
        let here = match self.key()? {
            Some(own) => self.parts(path, &bytes, own),
            None => self.parts(path, &bytes, key),
        };
        // A damaged file is another one.
        Ok(
            matches!((here, self.parts(path, backed_up, key)), (Ok(Some(here)), Ok(Some(there))) if here == there),
        )
    }

    /// Makes the file of a secret from its bytes in a backup, protected as the other secrets here.
    pub(crate) fn bring_back(&self, path: &Path, backed_up: &[u8], key: &PlantKey) -> Result<(), OwnerError> {
        if let Some(folder) = path.parent() {
            make_folder(folder, true)?;
        }
        make_private(path, &self.protected_here(path, backed_up, key)?)?;
        if path == self.path(KEY) && PlantKey::name_of(backed_up) == Some(key.name()) {
            self.keep_open(key);
        }
        Ok(())
    }

    /// Returns the file of a secret from its bytes in a backup, protected as the other secrets here.
    pub(crate) fn protected_here(
        &self,
        path: &Path,
        backed_up: &[u8],
        key: &PlantKey,
    ) -> Result<Zeroizing<Vec<u8>>, OwnerError> {
        let sealed_under = match KeyFile::protected(backed_up) {
            Some(Protected::PlantKey(name)) => Some(name),
            _ => None,
        };
        let own = if self.are_sealed() { self.key()?.map(PlantKey::name) } else { None };
        if sealed_under == own || !self.is_secret(path) {
            return Ok(Zeroizing::new(backed_up.to_vec()));
        }
        match self.parts(path, backed_up, key)? {
            Some((kind, secret)) if own.is_some() => self.encode(kind, path, &secret),
            Some((kind, secret)) => clear_form(kind, &secret),
            None => Ok(Zeroizing::new(backed_up.to_vec())),
        }
    }
}
