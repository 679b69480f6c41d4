//! The owner's signing key: `secrets/owner-signing-key`. Its public half, and those of earlier keys, stand in `logs/owner-keys`.

use std::fs::File;
use std::path::PathBuf;

use sotto_keys::{KeyFile, SigningIdentity};
use sotto_ring::secure_rng;

use super::error::SecretsError;
use super::files::Secrets;
use crate::error::OwnerError;
use crate::files::{lock_plant, make_folder, read_text, write_private};

const SECRET: &str = "owner-signing-key";
const PUBLIC: &str = "owner-keys";

/// Most bytes of the file of public keys.
const LARGEST: u64 = 1 << 16;

/// Most keys that are believed.
const MOST_KEYS: usize = 64;

impl Secrets {
    fn logs(&self) -> PathBuf {
        self.folder().with_file_name("logs")
    }

    /// Returns the owner's verifying keys, the present one first. None for a plant of an earlier version, which has given no
    /// order yet.
    pub(crate) fn owner_keys(&self) -> Result<Vec<[u8; 32]>, OwnerError> {
        let path = self.logs().join(PUBLIC);
        let text = if path.exists() { read_text(&path, LARGEST)? } else { String::new() };
        let key = |line: &str| {
            let mut key = [0; 32];
            let read = hex::decode_to_slice(line.trim(), &mut key);
            read.map_err(|error| OwnerError::Damaged { path: path.clone(), reason: error.to_string() })?;
            Ok(key)
        };
        text.lines().map(key).collect()
    }

    /// Returns the public half of the owner's key, for bundles. Makes the key of a plant of an earlier version.
    pub(crate) fn owner_key(&self) -> Result<[u8; 32], OwnerError> {
        match self.owner_keys()?.first() {
            Some(key) => Ok(*key),
            None => Ok(self.owner_identity()?.verifying_key()),
        }
    }

    /// Returns the owner's signing key. Makes that of a plant of an earlier version.
    ///
    /// # Errors
    /// [`SecretsError::NoOwnerKey`] if it is gone: devices know it, so it is not made anew without a word.
    pub(crate) fn owner_identity(&self) -> Result<SigningIdentity, OwnerError> {
        let path = self.path(SECRET);
        if path.exists() {
            let identity = SigningIdentity::from_bytes(&*self.read_key(KeyFile::Signing, &path)?);
            self.note_owner_key(&identity)?;
            return Ok(identity);
        }
        if self.owner_keys()?.is_empty() {
            self.make_owner_key()
        } else {
            Err(SecretsError::NoOwnerKey { path }.into())
        }
    }

    /// Adds the verifying key of another copy of this plant, behind those of this one.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if the text is no key, or there are 64 keys.
    pub(crate) fn believe_owner_key(&self, text: &str) -> Result<(), OwnerError> {
        let mut key = [0; 32];
        hex::decode_to_slice(text.trim(), &mut key).map_err(|_| {
            OwnerError::Unanswerable(format!("{text:?} is no owner's key, which is 64 hexadecimal digits"))
        })?;
        // That of this copy stays the first.
        self.owner_key()?;
        let _lock = self.lock_plant()?;
        let mut keys = self.owner_keys()?;
        if keys.contains(&key) {
            return Ok(());
        }
        if keys.len() >= MOST_KEYS {
            return Err(OwnerError::Unanswerable(format!("there are {MOST_KEYS} owner's keys already")));
        }
        keys.push(key);
        self.write_owner_keys(&keys)
    }

    /// Returns the missing file of the owner's key, if bundles were made with it.
    pub(crate) fn lost_owner_key(&self) -> Option<PathBuf> {
        let path = self.path(SECRET);
        let is_known = || self.owner_keys().is_ok_and(|keys| !keys.is_empty());
        (!path.exists() && is_known()).then_some(path)
    }

    /// Makes the owner's key. One that is there is not replaced.
    pub(crate) fn make_owner_key(&self) -> Result<SigningIdentity, OwnerError> {
        let identity = SigningIdentity::generate(&mut secure_rng().map_err(|_| OwnerError::Randomness)?);
        self.write(KeyFile::Signing, &self.path(SECRET), identity.expose_secret_bytes())?;
        self.note_owner_key(&identity)?;
        Ok(identity)
    }

    /// Puts the public half before those of earlier keys, if it is new.
    fn note_owner_key(&self, identity: &SigningIdentity) -> Result<(), OwnerError> {
        let key = identity.verifying_key();
        if self.owner_keys()?.first() == Some(&key) {
            return Ok(());
        }
        let _lock = self.lock_plant()?;
        let mut keys = self.owner_keys()?;
        keys.retain(|earlier| *earlier != key);
        keys.insert(0, key);
        self.write_owner_keys(&keys)
    }

    /// Locks the plant's folder, in which that of the secrets is.
    fn lock_plant(&self) -> Result<File, OwnerError> {
        lock_plant(self.folder().parent().unwrap_or(self.folder()))
    }

    fn write_owner_keys(&self, keys: &[[u8; 32]]) -> Result<(), OwnerError> {
        make_folder(&self.logs(), true)?;
        let lines: String = keys.iter().map(|key| format!("{}\n", hex::encode(key))).collect();
        write_private(&self.logs().join(PUBLIC), lines.as_bytes())
    }
}
