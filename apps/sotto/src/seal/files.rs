//! Files in and out.

use std::fs;
use std::io::{Read as _, Write};
use std::path::Path;

use anyhow::Context;
use zeroize::Zeroizing;

/// What is read at most of what is no file and does not know its length.
const LONGEST_STREAM: u64 = 1 << 30;

/// The bytes of a file, which may be a secret key's. Their memory is taken once, so that nothing is left unwiped; but for what comes
/// through a pipe.
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
