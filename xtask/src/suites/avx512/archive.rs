//! Archives of files as Linux unpacks them at its start: cpio in the format `newc`.

use std::collections::BTreeSet;

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// An archive of folders and programs.
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<String>,
}

impl Archive {
    /// Adds a folder, and those above it. Linux makes none by itself.
    pub(super) fn folder(&mut self, path: &str) {
        let path = path.trim_matches('/');
        if path.is_empty() || self.folders.contains(path) {
            return;
        }
        if let Some((above, _)) = path.rsplit_once('/') {
            self.folder(above);
        }
        self.folders.insert(path.to_owned());
        self.entry(path, FOLDER, &[]);
    }

    /// Adds a program or a library at an absolute path.
    pub(super) fn program(&mut self, path: &str, content: &[u8]) {
        let path = path.trim_matches('/');
        if let Some((above, _)) = path.rsplit_once('/') {
            self.folder(above);
        }
        self.entry(path, PROGRAM, content);
    }

    /// Returns the archive with its end.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        let (name, length) = (path.len() as u32 + 1, content.len() as u32);
        // Inode, mode, owner, group, links, time, length, four numbers of devices, length of the name, checksum.
        let fields = [0, mode, 0, 0, 1, 0, length, 0, 0, 0, 0, name, 0];
        self.bytes.extend(b"070701");
        fields.iter().for_each(|field| self.bytes.extend(format!("{field:08x}").bytes()));
        self.bytes.extend(path.bytes().chain([0]));
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    /// Fills up to a whole number of four bytes.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_once_and_before_their_files() {
        let mut archive = Archive::default();
        archive.program("/lib/x/one.so", b"12345");
        archive.program("/lib/x/two.so", b"");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let names = text.split("070701").skip(1).map(|entry| entry[104..].split('\0').next().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["lib", "lib/x", "lib/x/one.so", "lib/x/two.so", "TRAILER!!!"]);
    }
}
