//! Removal of files: recorded in the transaction that deletes the rows, carried out after its commit.

use rusqlite::{Connection, params};

use super::bodies::Folder;
use super::{Store, StoreError};

/// Records that a file is to be removed.
pub(super) fn note(connection: &Connection, folder: Folder, name: &str) -> Result<(), StoreError> {
    let mut insert = connection
        .prepare_cached("INSERT INTO removals (folder, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    insert.execute(params![folder.name(), name])?;
    Ok(())
}

impl Store {
    /// Removes the recorded files.
    pub(super) fn finish_removals(&self) -> Result<(), StoreError> {
        let noted: Vec<(String, String)> = {
            let connection = self.connection();
            let mut query = connection.prepare("SELECT folder, name FROM removals")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
        };
        for (folder, name) in noted {
            if let Some(folder) = Folder::ALL.into_iter().find(|known| known.name() == folder) {
                self.bodies.remove(folder, &name);
            }
            let delete = "DELETE FROM removals WHERE folder = ?1 AND name = ?2";
            self.connection().execute(delete, params![folder, name])?;
        }
        Ok(())
    }
}
