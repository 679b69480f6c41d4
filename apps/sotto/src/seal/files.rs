//! Reads and writes files.

use std::fs;
use std::io::{Read as _, Write};
use std::path::Path;

use anyhow::Context;
use zeroize::Zeroizing;

/// Maximum bytes read from a pipe.
const LONGEST_STREAM: u64 = 1 << 30;

/// Reads a file, which may hold a secret key. The buffer is allocated once at its full size, so that growing leaves no
/// unwiped copies; a pipe's length is unknown, so its buffer grows.
pub(super) fn read(path: &Path) -> anyhow::Result<Zeroizing<Vec<u8>>> {
    let cannot = || format!("cannot read {}", path.display());
    let file = fs::File::open(path).with_context(cannot)?;
    let metadata = file.metadata().with_context(cannot)?;
    let most = if metadata.is_file() { metadata.len() } else { LONGEST_STREAM };
    let mut bytes = Zeroizing::new(Vec::new());
    if metadata.is_file() {
        let room = usize::try_from(most + 1).with_context(cannot)?;
        bytes.try_reserve_exact(room).with_context(cannot)?;
    }
    file.take(most + 1).read_to_end(&mut bytes).with_context(cannot)?;
    anyhow::ensure!(bytes.len() as u64 <= most, "{} has more than {most} bytes", path.display());
    Ok(bytes)
}

/// Returns the most bytes to inflate when a file of `bytes` bytes is inspected: 64 times its size, within 2^28 … 2^34.
/// Large objects consist of random numbers and hardly compress; a plaintext of zeros compresses well and is small. A
/// small file made to inflate without end costs a fraction of a second.
pub(super) fn most_inflated(bytes: usize) -> u64 {
    (64 * bytes as u64).clamp(1 << 28, 1 << 34)
}

/// Writes a new file, with mode 0600 if it is private; never overwrites.
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
