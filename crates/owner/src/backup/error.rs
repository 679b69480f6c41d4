//! Reasons why a backup cannot be made or used.

use std::path::PathBuf;

/// The reason why a backup cannot be made or used.
///
/// ```
/// use sotto_owner::{BackupError, OwnerError, RestoreOptions, Unlock, restore_backup};
///
/// # let folder = tempfile::tempdir()?;
/// let file = folder.path().join("notes.txt");
/// std::fs::write(&file, "no backup")?;
/// let options = RestoreOptions { replace: false, dry_run: true };
/// let error = restore_backup(&file, folder.path(), options, &Unlock::default(), &mut |_, _| {}).expect_err("a text");
/// assert!(matches!(error, OwnerError::Backup(BackupError::NoBackup { .. })));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file is no backup.
    #[error("{} is no backup of a plant, or its head is damaged: nothing was changed", path.display())]
    NoBackup {
        /// The file.
        path: PathBuf,
    },
    /// The backup is of another plant.
    #[error("{} is the backup of another plant: nothing was changed. Name another file for this plant", path.display())]
    OtherPlant {
        /// The file.
        path: PathBuf,
    },
    /// The backup of another plant, and a folder that would be restored from it.
    #[error(
        "{} is the backup of another plant than that in {}: nothing was changed. Name another folder with --to DIR",
        path.display(), folder.display()
    )]
    OtherFolder {
        /// The file.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// The passphrase does not open the backup that is there.
    #[error(
        "the passphrase does not open {}, which has an earlier one or is of another plant: nothing was changed. Name another file",
        path.display()
    )]
    OtherPassphrase {
        /// The file.
        path: PathBuf,
    },
    /// A part of the backup is damaged.
    #[error(
        "{} is damaged in segment {segment}: {reason}. A whole new one: `sotto backup --to FILE --whole`",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The number of the segment, from 0.
        segment: u32,
        /// The fault found.
        reason: String,
    },
    /// The plant has no passphrase, and none was given for the backup.
    #[error(
        "a backup is encrypted under a passphrase, and this plant has none: run this in a terminal, which asks for one, or name a file that \
         holds one with --passphrase-file FILE"
    )]
    NoPassphrase,
    /// A file of the plant became shorter while it was copied.
    #[error("{} changed while it was backed up: run the command again", path.display())]
    Changed {
        /// The file of the plant.
        path: PathBuf,
    },
    /// Another process writes the backup.
    #[error("another `sotto backup` writes {}: wait for its end", path.display())]
    InUse {
        /// The backup.
        path: PathBuf,
    },
}
