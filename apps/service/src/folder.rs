//! A service's folder: one process at a time writes into it, and nobody but its owner looks into what it writes. What is stored may
//! be encrypted; who asks how much, and when, is not.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// What can go wrong with a folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The file system refuses.
    #[error("cannot {doing}: {source}")]
    Files {
        /// What was to be done.
        doing: &'static str,
        /// Why it was not.
        source: io::Error,
    },
    /// Another process has the folder open.
    #[error("another process has this folder open")]
    InUse,
}

fn failed_to(doing: &'static str) -> impl FnOnce(io::Error) -> FolderError {
    move |source| FolderError::Files { doing, source }
}

/// Makes a folder that only its owner may look into. One that is there is left as it is: the files in it have modes of their own.
pub fn make(folder: &Path) -> Result<(), FolderError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(failed_to("make a folder"))
}

/// The same for a folder inside a service's own, which is also closed if it is there and open.
pub fn make_inside(folder: &Path) -> Result<(), FolderError> {
    make(folder)?;
    #[cfg(unix)]
    set_mode(folder, 0o700).map_err(failed_to("keep others out of a folder"))?;
    Ok(())
}

/// Keeps other processes out as long as the file is held.
pub fn lock(folder: &Path) -> Result<File, FolderError> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("lock"));
    let file = file.map_err(failed_to("make the lock file"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(FolderError::InUse),
        Err(TryLockError::Error(source)) => Err(failed_to("lock the folder")(source)),
    }
}

/// Makes the file of a SQLite database before SQLite does, and closes it and what SQLite puts beside it to others. Files that come
/// later get the mode that the database has.
pub fn keep_database_private(database: &Path) -> Result<(), FolderError> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(database).map_err(failed_to("make the database file"))?;
    #[cfg(unix)]
    for suffix in ["", "-wal", "-shm"] {
        let mut file = OsString::from(database);
        file.push(suffix);
        match set_mode(Path::new(&file), 0o600) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other.map_err(failed_to("keep others out of the database"))?,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_private_and_what_is_inside_stays_so() {
        let folder = tempfile::tempdir().unwrap();
        let (new, inside) = (folder.path().join("a/b"), folder.path().join("a/b/inside"));
        make(&new).unwrap();
        assert_eq!(mode(&new), 0o700);
        set_mode(&new, 0o755).unwrap();
        make(&new).unwrap();
        assert_eq!(mode(&new), 0o755, "somebody wanted it so");
        make_inside(&inside).unwrap();
        set_mode(&inside, 0o755).unwrap();
        make_inside(&inside).unwrap();
        assert_eq!(mode(&inside), 0o700);
    }

    #[test]
    fn a_database_is_closed_to_others_with_what_lies_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["x.sqlite", "x.sqlite-wal", "x.sqlite-shm"].map(|name| folder.path().join(name));
        keep_database_private(&files[0]).unwrap();
        assert_eq!(mode(&files[0]), 0o600);
        assert!(!files[1].exists());
        for file in &files {
            fs::write(file, b"kept").unwrap();
            set_mode(file, 0o644).unwrap();
        }
        keep_database_private(&files[0]).unwrap();
        for file in &files {
            assert_eq!((mode(file), fs::read(file).unwrap()), (0o600, b"kept".to_vec()), "{file:?}");
        }
    }

    #[test]
    fn one_process_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock(folder.path()).unwrap();
        assert!(matches!(lock(folder.path()), Err(FolderError::InUse)));
        drop(held);
        assert!(lock(folder.path()).is_ok());
        assert!(matches!(lock(&folder.path().join("none")), Err(FolderError::Files { .. })));
    }
}
