//! Files beside a backup: the lock of its writers, and the new one while it is written.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::BackupError;
use crate::error::{OwnerError, io};
use crate::files::random;

/// Ending of the file that is locked.
const LOCK: &str = "lock";

/// Ending of a backup that is not finished.
const PARTIAL: &str = "partial";

/// Random bytes in the name of a backup that is not finished.
const RANDOM: usize = 8;

/// Excludes other processes that write a backup, until the file is closed.
pub(super) fn locked(backup: &Path) -> Result<File, OwnerError> {
    let path = beside(backup, LOCK);
    let lock = match new_private(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // A link may lead to any file.
            let kind = fs::symlink_metadata(&path).map_err(io(&path))?.file_type();
            if !kind.is_file() {
                return Err(OwnerError::Exists { path });
            }
            File::options().read(true).write(true).open(&path)
        }
        lock => lock,
    };
    let lock = lock.map_err(io(&path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(BackupError::InUse { path: backup.to_owned() }.into()),
        Err(TryLockError::Error(error)) => Err(io(&path)(error)),
    }
}

/// Makes a new file beside a backup, mode 0600. Deletes those that interrupted backups left.
pub(super) fn partial(backup: &Path) -> Result<(PathBuf, File), OwnerError> {
    sweep(backup)?;
    let path = beside(backup, &format!("{}.{PARTIAL}", hex::encode(random::<RANDOM>()?)));
    let file = new_private(&path).map_err(io(&path))?;
    Ok((path, file))
}

fn sweep(backup: &Path) -> Result<(), OwnerError> {
    let (Some(folder), Some(file)) = (backup.parent(), backup.file_name().and_then(|file| file.to_str()))
    else {
        return Ok(());
    };
    for entry in fs::read_dir(folder).map_err(io(folder))? {
        let path = entry.map_err(io(folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let random = name
            .strip_prefix(file)
            .and_then(|rest| rest.strip_prefix('.')?.strip_suffix(PARTIAL)?.strip_suffix('.'));
        if random.is_some_and(|random| random.len() == 2 * RANDOM && hex::decode(random).is_ok()) {
            fs::remove_file(&path).map_err(io(&path))?;
        }
    }
    Ok(())
}

fn beside(backup: &Path, ending: &str) -> PathBuf {
    let mut name = backup.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{ending}"));
    backup.with_file_name(name)
}

fn new_private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_leftovers_of_this_backup_are_deleted() {
        let folder = tempfile::tempdir().expect("a folder");
        let backup = folder.path().join("plant.backup");
        let names = [
            "plant.backup.0123456789abcdef.partial",
            "plant.backup.partial",
            "plant.backup.notes.partial",
            "other.backup.0123456789abcdef.partial",
        ];
        names.iter().for_each(|name| fs::write(folder.path().join(name), "").expect("written"));
        let (path, _) = partial(&backup).expect("made");
        assert!(path.exists());
        let left: Vec<bool> = names.iter().map(|name| folder.path().join(name).exists()).collect();
        assert_eq!(left, [false, true, true, true]);
    }

    #[test]
    fn one_process_writes() {
        let folder = tempfile::tempdir().expect("a folder");
        let backup = folder.path().join("plant.backup");
        let lock = locked(&backup).expect("locked");
        let refused = locked(&backup).map(drop).expect_err("in use");
        assert!(matches!(refused, OwnerError::Backup(BackupError::InUse { .. })), "{refused}");
        drop(lock);
        locked(&backup).expect("locked again");
    }
}
