//! The names of files of confirmed messages.

use std::fs;
use std::io;
use std::path::Path;

const ALONE: &str = ".envelope";
const GROUP: &str = ".group";

/// A file of a confirmed message, by its name: `TIME.STREAM.NUMBER.envelope`, or `TIME.STREAM.FIRST-LAST.WINDOWS.group`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArchivedFile {
    /// When the cloud confirmed it: milliseconds since 1970.
    pub confirmed_at: i64,
    /// The stream.
    pub stream: String,
    /// The smallest sequence number.
    pub first: u64,
    /// The largest sequence number.
    pub last: u64,
    /// Number of windows.
    pub windows: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// True for windows under one signature.
    pub is_group: bool,
}

impl ArchivedFile {
    pub(super) fn alone(confirmed_at: i64, stream: &str, number: u64, bytes: u64) -> Self {
        let (first, last, windows, is_group) = (number, number, 1, false);
        Self { confirmed_at, stream: stream.to_owned(), first, last, windows, bytes, is_group }
    }

    pub(super) fn group(
        confirmed_at: i64,
        stream: &str,
        (first, last): (u64, u64),
        windows: u64,
        bytes: u64,
    ) -> Self {
        Self { confirmed_at, stream: stream.to_owned(), first, last, windows, bytes, is_group: true }
    }

    /// Returns true if a window of this number may be in the file.
    pub(in crate::spool) fn has(&self, number: u64) -> bool {
        (self.first..=self.last).contains(&number)
    }

    pub(super) fn name(&self) -> String {
        let Self { confirmed_at, stream, first, last, windows, .. } = self;
        if self.is_group {
            format!("{confirmed_at:020}.{stream}.{first}-{last}.{windows}{GROUP}")
        } else {
            format!("{confirmed_at:020}.{stream}.{first}{ALONE}")
        }
    }

    fn from_name(name: &str, bytes: u64) -> Option<Self> {
        let (time, rest) = name.split_once('.')?;
        let time = time.parse().ok()?;
        // A stream's name may contain dots and dashes, a number cannot.
        let file = if let Some(rest) = rest.strip_suffix(GROUP) {
            let (rest, windows) = rest.rsplit_once('.')?;
            let (stream, numbers) = rest.rsplit_once('.')?;
            let (first, last) = numbers.split_once('-')?;
            let numbers = (first.parse().ok()?, last.parse().ok()?);
            Self::group(time, stream, numbers, windows.parse().ok()?, bytes)
        } else {
            let (stream, number) = rest.strip_suffix(ALONE)?.rsplit_once('.')?;
            Self::alone(time, stream, number.parse().ok()?, bytes)
        };
        (file.name() == name).then_some(file)
    }
}

/// Returns the files in a folder, oldest first. Passes over other ones, and those that are deleted meanwhile.
pub(super) fn files(folder: &Path) -> io::Result<Vec<ArchivedFile>> {
    let mut files = Vec::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        let bytes = match file.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata?.len(),
        };
        files.extend(file.file_name().to_str().and_then(|name| ArchivedFile::from_name(name, bytes)));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_in_the_file() {
        for stream in ["temperature", "a.b-7", "..", "7", "x.1-2.3"] {
            let alone = ArchivedFile::alone(1_795_000_000_000, stream, 345, 6);
            let group = ArchivedFile::group(1_795_000_000_000, stream, (7, 80), 64, 6);
            for file in [alone, group] {
                assert_eq!(ArchivedFile::from_name(&file.name(), 6), Some(file));
            }
        }
        for name in ["accepted.json", "1.s.2.envelope", "00000000000000000001.s.2-3.group", ".group", "lock"]
        {
            assert_eq!(ArchivedFile::from_name(name, 0), None, "{name}");
        }
    }
}
