//! The backup that is there before another one is made.

use std::fs::File;
use std::path::Path;

use sotto_keys::PlantKey;

use super::contents::List;
use super::error::BackupError;
use super::note::BackupNote;
use super::open::Backup;
use super::owned::is_of_plant;
use super::stream::Keys;
use crate::declared::Plant;
use crate::error::{OwnerError, io};
use crate::secrets::SecretsError;

/// The backup that is there already: of this plant, and opened.
pub(super) struct Earlier {
    pub(super) backup: Backup,
    pub(super) key: PlantKey,
    pub(super) keys: Keys,
    /// Its last list of files.
    pub(super) list: Result<List, OwnerError>,
}

impl Earlier {
    /// Opens the backup that is there; None if there is none. Refuses that of another plant, and one that does not open.
    pub(super) fn open(
        plant: &Plant,
        to: &Path,
        note: Option<&BackupNote>,
        passphrase: Option<&str>,
    ) -> Result<Option<Self>, OwnerError> {
        if !to.exists() {
            return Ok(None);
        }
        let file = File::options().read(true).write(true).open(to).map_err(io(to))?;
        let mut backup = Backup::of(to, file)?;
        let other = || BackupError::OtherPlant { path: to.to_owned() };
        let head = backup.heads.head.clone();
        if note.is_some_and(|note| note.plant != hex::encode(head.plant)) {
            return Err(other().into());
        }
        let key = match plant.secrets().key_of_given(to, &head.key_file, passphrase) {
            Err(OwnerError::Secrets(SecretsError::WrongPassphrase { path, .. })) if path == to => {
                return Err(BackupError::OtherPassphrase { path }.into());
            }
            key => key?,
        };
        let keys = backup.keys(&key);
        let list = backup.list(&keys);
        if let Ok(list) = &list
            && !is_of_plant(plant.folder(), note, &head.plant, list)?
        {
            return Err(other().into());
        }
        Ok(Some(Self { backup, key, keys, list }))
    }
}
