//! A service's folder: written by one process at a time, and readable by its owner only. Its contents may be encrypted,
//! but who asks how much, and when, is not.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// An error of a folder. It has no error source: the message contains the system's error, and a chain would print it
/// twice.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The file system reports an error.
    #[error("cannot {doing}: {error}")]
    Files {
        /// The operation that failed.
        doing: &'static str,
        /// The I/O error.
        error: io::Error,
    },
    /// Another process holds the lock.
    #[error("another process has this folder open")]
    InUse,
}

fn failed_to(doing: &'static str) -> impl FnOnce(io::Error) -> FolderError {
    move |error| FolderError::Files { doing, error }
}

/// Makes a folder with mode 0700. Keeps the mode of an existing one: files inside have modes of their own.
///
/// # Errors
/// [`FolderError::Files`] if the folder cannot be made.
pub fn make(folder: &Path) -> Result<(), FolderError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(failed_to("make a folder"))
}

/// Checks that a folder can be made, or used if it exists. Makes nothing.
///
/// # Errors
/// [`FolderError::Files`] if the folder, or the nearest one above that exists, is no folder or cannot be written.
pub fn check(folder: &Path) -> Result<(), FolderError> {
    let above = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    if !above.is_dir() {
        return Err(failed_to("make a folder")(io::ErrorKind::NotADirectory.into()));
    }
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        let doing = if above == folder { "write to the folder" } else { "make a folder" };
        access(above, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| failed_to(doing)(error.into()))?;
    }
    Ok(())
}

/// Like [`make`], for a folder inside a service's own; also sets the mode of an existing one.
///
/// # Errors
/// [`FolderError::Files`] if the folder cannot be made or its mode cannot be set.
pub fn make_inside(folder: &Path) -> Result<(), FolderError> {
    make(folder)?;
    #[cfg(unix)]
    set_mode(folder, 0o700).map_err(failed_to("keep others out of a folder"))?;
    Ok(())
}

/// Makes the names in a folder durable, where the system can.
///
/// # Errors
/// The folder cannot be opened or written.
pub fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Keeps other processes out as long as the returned file is held.
///
/// # Errors
/// [`FolderError::InUse`] if another process holds the lock, [`FolderError::Files`].
pub fn lock(folder: &Path) -> Result<File, FolderError> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("lock"));
    let file = file.map_err(failed_to("make the lock file"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(FolderError::InUse),
        Err(TryLockError::Error(source)) => Err(failed_to("lock the folder")(source)),
    }
}

/// Creates the file of a SQLite database with mode 0600 before SQLite does, and sets that mode on existing files beside
/// it. SQLite gives later files the database's mode.
///
/// # Errors
/// [`FolderError::Files`] if a file cannot be made or its mode cannot be set.
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
    fn a_check_makes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("a/b");
        check(&new).unwrap();
        check(folder.path()).unwrap();
        assert!(!folder.path().join("a").exists());
        fs::write(folder.path().join("a"), b"a file").unwrap();
        let error = check(&new).unwrap_err().to_string();
        assert!(error.starts_with("cannot make a folder"), "{error}");
        assert!(make(&new).is_err(), "as the check says");
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
