//! Permissions of a spool, and of a gateway's own folder. Messages are encrypted, but names, times and counts are not: only the
//! device's user may read them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder with mode 0700; missing parents get the system's default mode.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns options that make a file with mode 0600.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Removes other users' access to a folder and its files: earlier versions made them with the system's defaults. Does
/// not follow links. Logs a mode that cannot be changed, and goes on.
#[cfg(unix)]
pub(crate) fn close(folder: &Path) -> io::Result<()> {
    keep_others_out(folder, 0o700);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            keep_others_out(&entry.path(), 0o600);
        }
    }
    Ok(())
}

/// Does nothing: other systems have no modes.
#[cfg(not(unix))]
pub(crate) fn close(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn keep_others_out(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let closed = fs::symlink_metadata(path).and_then(|metadata| {
        if metadata.permissions().mode() & 0o077 == 0 {
            return Ok(());
        }
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    });
    if let Err(error) = closed {
        tracing::warn!(path = %path.display(), %error, "others can read this, and its mode cannot be changed");
    }
}
