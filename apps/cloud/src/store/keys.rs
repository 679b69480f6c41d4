//! Evaluation keys.

use rusqlite::{OptionalExtension as _, params};
use sotto_api::keys::{KeyContents, KeyStatus};
use sotto_rlwe::{KeyId, ParameterId};

use super::{Folder, Store, StoreError, count, now};
use crate::id::Id;
use crate::registry::LoadedKeys;

fn text(contents: &KeyContents) -> Option<String> {
    serde_json::to_string(contents).ok()
}

impl Store {
    /// Stores keys; replaces earlier ones. Returns the new file and the one that it replaced.
    pub(crate) fn keep_keys(
        &self,
        parameters: ParameterId,
        keys: &LoadedKeys,
        frame: &[u8],
    ) -> Result<(Id, Option<Id>), StoreError> {
        let file = Id::random()?;
        self.bodies.write(Folder::Keys, &file.to_string(), frame)?;
        let kept = self.transaction(|transaction| {
            let query = "SELECT file FROM evaluation_keys WHERE parameter_id = ?1 AND key_id = ?2";
            let replaced: Option<Id> = transaction
                .query_row(query, params![parameters.0, keys.key.0], |row| row.get(0))
                .optional()?;
            transaction.execute(
                "INSERT OR REPLACE INTO evaluation_keys
                 (parameter_id, key_id, file, relinearisation, galois, transfers, contents, bytes, stored_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    parameters.0,
                    keys.key.0,
                    file,
                    keys.relinearisation,
                    keys.galois as i64,
                    keys.transfers.len() as i64,
                    text(&keys.contents),
                    frame.len() as i64,
                    now()
                ],
            )?;
            Ok(replaced)
        });
        // The file without a row: the replaced one, or the new one if the commit failed.
        let unnamed = match &kept {
            Ok(replaced) => *replaced,
            Err(_) => Some(file),
        };
        if let Some(unnamed) = unnamed {
            self.bodies.remove(Folder::Keys, &unnamed.to_string());
        }
        Ok((file, kept?))
    }

    /// Returns the file with the evaluation keys of a secret key.
    pub(crate) fn keys_file(&self, parameters: ParameterId, key: KeyId) -> Result<Option<Id>, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached("SELECT file FROM evaluation_keys WHERE parameter_id = ?1 AND key_id = ?2")?;
        Ok(query.query_row(params![parameters.0, key.0], |row| row.get(0)).optional()?)
    }

    /// Returns the row of the evaluation keys of a secret key.
    pub(crate) fn key_status(
        &self,
        parameters: ParameterId,
        key: KeyId,
    ) -> Result<Option<KeyStatus>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached(
            "SELECT relinearisation, galois, bytes, stored_at, contents FROM evaluation_keys
             WHERE parameter_id = ?1 AND key_id = ?2",
        )?;
        let status = query.query_row(params![parameters.0, key.0], |row| {
            let contents: Option<String> = row.get(4)?;
            Ok(KeyStatus {
                parameter_id: parameters.to_string(),
                key_id: key.to_string(),
                relinearisation: row.get(0)?,
                galois: row.get(1)?,
                bytes: count(row, 2)?,
                stored_at: row.get(3)?,
                contents: contents.and_then(|text| serde_json::from_str(&text).ok()),
            })
        });
        Ok(status.optional()?)
    }

    /// Adds the contents to the row of keys that an older version stored.
    pub(crate) fn keep_key_contents(
        &self,
        parameters: ParameterId,
        key: KeyId,
        contents: &KeyContents,
    ) -> Result<(), StoreError> {
        let update = "UPDATE evaluation_keys SET contents = ?3 WHERE parameter_id = ?1 AND key_id = ?2";
        self.connection().execute(update, params![parameters.0, key.0, text(contents)])?;
        Ok(())
    }

    pub(crate) fn keys_frame(&self, file: Id) -> Result<Vec<u8>, StoreError> {
        self.bodies.read(Folder::Keys, &file.to_string())
    }
}
