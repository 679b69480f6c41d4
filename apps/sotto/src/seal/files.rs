//! Files in and out.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use zeroize::Zeroizing;

/// The bytes of a file, which may be a secret key's.
pub(super) fn read(path: &Path) -> anyhow::Result<Zeroizing<Vec<u8>>> {
    fs::read(path).map(Zeroizing::new).with_context(|| format!("cannot read {}", path.display()))
}

/// What is inflated at most to find out what a file of so many bytes is. Large objects are full of random numbers and hardly
/// compress; a plaintext of zeros does, and is small. A small file made to inflate without end costs a fraction of a second.
pub(super) fn most_inflated(bytes: usize) -> u64 {
    (64 * bytes as u64).clamp(1 << 28, 1 << 34)
}

/// Writes a new file; an existing one is never overwritten. A private one has mode 0600.
pub(super) fn write(path: &Path, bytes: &[u8], private: bool) -> anyhow::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let written = options.open(path).and_then(|mut file| file.write_all(bytes));
    written.with_context(|| format!("cannot write {}", path.display()))
}
