//! Opens the ledger's database.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use sotto_service::folder;
use sotto_service::migrations::{Migration, migrate, version};

use super::LedgerError;

const MIGRATIONS: [Migration; 1] = [Migration::Statements(include_str!("version_1.sql"))];
const FILE: &str = "recryptor.sqlite";

pub(super) fn connect(folder: &Path) -> Result<Connection, LedgerError> {
    let file = folder.join(FILE);
    folder::keep_database_private(&file)?;
    let mut connection = Connection::open(file)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit must be durable before the batch is answered.
    connection.pragma_update(None, "synchronous", "FULL")?;
    migrate(&mut connection, &MIGRATIONS)?;
    Ok(connection)
}

/// Opens an existing ledger for reading, beside the process that writes to it.
pub(super) fn look(folder: &Path) -> Result<Connection, LedgerError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(folder.join(FILE), flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "query_only", true)?;
    let version = version(&connection)?;
    if version == MIGRATIONS.len() as i64 { Ok(connection) } else { Err(LedgerError::Version(version)) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// The file names that SQLite uses.
    const FILES: [&str; 3] = [FILE, "recryptor.sqlite-wal", "recryptor.sqlite-shm"];

    #[test]
    fn others_cannot_read_the_database_of_a_folder_that_they_may_look_into() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |mode| fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.path(), mode(0o755)).unwrap();
        // A new database, then one with an open mode.
        for before in [0o600, 0o644] {
            let connection = connect(folder.path()).unwrap();
            connection.execute("DELETE FROM counts", []).unwrap();
            for file in FILES {
                let found = fs::metadata(folder.path().join(file)).unwrap().permissions().mode() & 0o777;
                assert_eq!(found, 0o600, "{file}, {before:o}");
            }
            drop(connection);
            fs::set_permissions(folder.path().join(FILE), mode(0o644)).unwrap();
        }
    }
}
