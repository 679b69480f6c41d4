//! Writes the address of a service to a file, for the process that started it.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context as _;

/// Writes an address to a file atomically.
///
/// # Errors
/// The file cannot be written.
pub fn announce(address: SocketAddr, file: &Path) -> anyhow::Result<()> {
    write_at_once(file, &address.to_string())
        .with_context(|| format!("cannot write the address to {}", file.display()))
}

fn write_at_once(file: &Path, text: &str) -> std::io::Result<()> {
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(format!(".{}", std::process::id()));
    // Remove an existing file first: it might be a link to a file elsewhere.
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).open(&unfinished)?.write_all(text.as_bytes())?;
    fs::rename(&unfinished, file)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_not_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["address", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "somebody's").unwrap();
        let unfinished = folder.path().join(format!("address.{}", std::process::id()));
        std::os::unix::fs::symlink(&other, unfinished).unwrap();
        announce(SocketAddr::from(([127, 0, 0, 1], 80)), &file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "127.0.0.1:80");
        assert_eq!(fs::read_to_string(&other).unwrap(), "somebody's");
        assert!(!fs::symlink_metadata(&file).unwrap().is_symlink());
    }
}
