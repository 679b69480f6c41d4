//! Removal of files and of bodies: recorded in the transaction that changes the rows, carried out after its commit.

use rusqlite::Connection;

use super::bodies::Folder;
use super::{Store, StoreError};

/// The folder's name in records of bodies that are dropped from the files of envelopes.
const BODIES: &str = "bodies";

/// The folder's name in records of files that are to be removed from the object store.
pub(super) const OBJECTS: &str = "objects";

/// Records that a file is to be removed.
pub(super) fn note(connection: &Connection, folder: Folder, name: &str) -> Result<(), StoreError> {
    insert(connection, folder.name(), name)
}

/// Records that the body in the file of an envelope is to be dropped.
pub(super) fn note_body(connection: &Connection, name: &str) -> Result<(), StoreError> {
    insert(connection, BODIES, name)
}

fn insert(connection: &Connection, folder: &str, name: &str) -> Result<(), StoreError> {
    let mut insert = connection
        .prepare_cached("INSERT INTO removals (folder, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    insert.execute([folder, name])?;
    Ok(())
}

/// Deletes the record of a removal that was carried out.
pub(super) fn delete(connection: &Connection, folder: &str, name: &str) -> Result<(), StoreError> {
    let mut delete = connection.prepare_cached("DELETE FROM removals WHERE folder = ?1 AND name = ?2")?;
    delete.execute([folder, name])?;
    Ok(())
}

/// Returns true if the catalogue has a segment of this name: the same bytes were written again.
fn is_segment(connection: &Connection, name: &str) -> Result<bool, StoreError> {
    let query = "SELECT EXISTS (SELECT 1 FROM segments WHERE lower(hex(substr(digest, 1, 16))) = ?1)";
    Ok(connection.prepare_cached(query)?.query_row([name], |row| row.get(0))?)
}

impl Store {
    /// Removes the recorded files, and drops the recorded bodies.
    pub(super) fn finish_removals(&self) -> Result<(), StoreError> {
        let noted: Vec<(String, String)> = {
            let connection = self.connection();
            let mut query = connection.prepare("SELECT folder, name FROM removals")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
        };
        for (folder, name) in noted {
            if folder == BODIES {
                self.drop_body(&name)?;
            } else if let Some(folder) = Folder::ALL.into_iter().find(|known| known.name() == folder) {
                let of_segment = folder == Folder::Segments;
                if !of_segment || !is_segment(&self.connection(), &name)? {
                    self.bodies.remove(folder, &name);
                    if of_segment && self.tier.is_some() {
                        insert(&self.connection(), OBJECTS, &name)?;
                    }
                }
            }
            // `tend_tier` removes files in the object store.
            if folder == OBJECTS {
                continue;
            }
            delete(&self.connection(), &folder, &name)?;
        }
        Ok(())
    }
}
