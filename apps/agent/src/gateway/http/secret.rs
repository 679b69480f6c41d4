//! Files with secrets: a token, a key of TLS.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Result, ensure};
use zeroize::Zeroizing;

/// Reads a file of at most `longest` bytes that only its owner may read. Checks the opened file, not its name.
pub(super) fn read(path: &Path, longest: usize) -> Result<Zeroizing<Vec<u8>>> {
    let file = File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata()?.permissions().mode() & 0o777;
        ensure!(mode & 0o077 == 0, "others can read it (mode {mode:03o}): run chmod 600 on it");
    }
    // Allocated once: a growing vector leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(longest + 1));
    file.take(longest as u64 + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() <= longest, "it has more than {longest} bytes");
    Ok(bytes)
}
