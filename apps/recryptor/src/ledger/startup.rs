//! What happens once: folder, lock, database.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::LedgerError;

const VERSION: i64 = 1;
const FILE: &str = "recryptor.sqlite";
/// As SQLite names them.
#[cfg(unix)]
const WRITE_AHEAD: &str = "recryptor.sqlite-wal";
#[cfg(unix)]
const SHARED: &str = "recryptor.sqlite-shm";

fn failed_to(doing: &'static str) -> impl FnOnce(std::io::Error) -> LedgerError {
    move |source| LedgerError::Files { doing, source }
}

/// Only its owner may look into it: who asks how much, and when, is nobody else's business.
pub(super) fn make_folder(folder: &Path) -> Result<(), LedgerError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(failed_to("make the folder"))
}

pub(super) fn lock(folder: &Path) -> Result<File, LedgerError> {
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("lock"));
    let file = file.map_err(failed_to("make the lock file"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LedgerError::InUse),
        Err(TryLockError::Error(source)) => Err(failed_to("lock the folder")(source)),
    }
}

/// A folder that was there before may be open to others: what is written into it is not. The files that SQLite puts beside the
/// database get the mode that this one has.
fn keep_private(folder: &Path) -> Result<(), LedgerError> {
    let mut options = fs::OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(folder.join(FILE)).map_err(failed_to("make the database file"))?;
    #[cfg(unix)]
    for file in [FILE, WRITE_AHEAD, SHARED] {
        use std::os::unix::fs::PermissionsExt as _;
        let private = fs::Permissions::from_mode(0o600);
        match fs::set_permissions(folder.join(file), private) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            other => other.map_err(failed_to("keep others out of the database"))?,
        }
    }
    Ok(())
}

pub(super) fn connect(folder: &Path) -> Result<Connection, LedgerError> {
    keep_private(folder)?;
    let mut connection = Connection::open(folder.join(FILE))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit is on the disk before a batch is answered.
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction()?;
    match transaction.pragma_query_value(None, "user_version", |row| row.get(0))? {
        VERSION => {}
        0 => {
            transaction.execute_batch(include_str!("schema.sql"))?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        other => return Err(LedgerError::Version(other)),
    }
    transaction.commit()?;
    Ok(connection)
}

/// Opens a ledger that is there, beside whoever writes to it.
pub(super) fn look(folder: &Path) -> Result<Connection, LedgerError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(folder.join(FILE), flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "query_only", true)?;
    match connection.pragma_query_value(None, "user_version", |row| row.get(0))? {
        VERSION => Ok(connection),
        other => Err(LedgerError::Version(other)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn others_cannot_read_the_database_of_a_folder_that_they_may_look_into() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |mode| fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.path(), mode(0o755)).unwrap();
        // New, and from before.
        for before in [0o600, 0o644] {
            let connection = connect(folder.path()).unwrap();
            connection.execute("DELETE FROM counts", []).unwrap();
            for file in [FILE, WRITE_AHEAD, SHARED] {
                let found = fs::metadata(folder.path().join(file)).unwrap().permissions().mode() & 0o777;
                assert_eq!(found, 0o600, "{file}, {before:o}");
            }
            drop(connection);
            fs::set_permissions(folder.path().join(FILE), mode(0o644)).unwrap();
        }
    }
}
