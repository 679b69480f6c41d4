//! Files that only their owner may read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use anyhow::ensure;
use zeroize::Zeroizing;

/// Reads a file of at most `longest` bytes, wiped when dropped. Checks the mode of the opened file, not of its name,
/// which may be replaced meanwhile.
///
/// # Errors
/// The file cannot be read, is too long, or can be read by others.
pub fn read(file: &Path, longest: usize) -> anyhow::Result<Zeroizing<Vec<u8>>> {
    let opened = File::open(file)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = opened.metadata()?.permissions().mode() & 0o777;
        ensure!(mode & 0o077 == 0, "it can be read by others (mode {mode:03o}): run chmod 600 on it");
    }
    // Allocate once: a growing vector leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(longest + 1));
    opened.take(longest as u64 + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() <= longest, "it has more than {longest} bytes");
    Ok(bytes)
}

/// Creates a file with mode 0600, to be written. Never opens an existing one.
///
/// # Errors
/// The file cannot be created, or exists.
pub fn create(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Writes a new file with mode 0600, durably. Never overwrites an existing file.
///
/// # Errors
/// The file cannot be written, or exists.
pub fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(file)?;
    file.write_all(bytes)?;
    file.sync_all()
}
