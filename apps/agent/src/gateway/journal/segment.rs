//! Files of the journal: each holds the records of a range of batches.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::record::{BEGIN, DeviceId, Head, MAGIC, SALT, is_whole};

const EXTENSION: &str = "journal";

/// A file of the journal, and the devices whose rows it holds.
pub(super) struct Segment {
    pub(super) path: PathBuf,
    /// The number of its first batch.
    pub(super) first: u64,
    /// Bytes of its head and of its whole records.
    pub(super) bytes: u64,
    /// For each device, the number of its last batch, and the bytes of its records.
    pub(super) devices: HashMap<DeviceId, (u64, u64)>,
}

impl Segment {
    /// Returns the path of the segment that begins with a batch.
    pub(super) fn path(folder: &Path, first: u64) -> PathBuf {
        folder.join(format!("{first:020}.{EXTENSION}"))
    }

    /// Notes a record.
    pub(super) fn note(&mut self, head: &Head) {
        self.bytes += head.bytes as u64;
        let (last, bytes) = self.devices.entry(head.device).or_default();
        *last = (*last).max(head.batch);
        *bytes += head.bytes as u64;
    }

    /// Returns the bytes of the records that some device still needs.
    pub(super) fn needed(&self, is_needed: impl Fn(&DeviceId, u64) -> bool) -> u64 {
        let needed = self.devices.iter().filter(|(device, (last, _))| is_needed(device, *last));
        needed.map(|(_, (_, bytes))| *bytes).sum()
    }
}

/// Returns the paths and first batches of the segments in a folder, in order.
pub(super) fn all(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_segment = path.extension().is_some_and(|extension| extension == EXTENSION);
        let first = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        if let (true, Some(first)) = (is_segment, first) {
            found.push((first, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Reads the records of a segment in order.
pub(super) struct SegmentReader {
    file: BufReader<File>,
    pub(super) salt: [u8; SALT],
    /// The place behind the last record.
    pub(super) at: u64,
    /// The place up to which it is read.
    until: u64,
    /// The last record, whole.
    pub(super) record: Vec<u8>,
}

impl SegmentReader {
    /// Opens a segment to read it up to a place. Returns `None` for a file that has not even its beginning.
    pub(super) fn open(path: &Path, until: u64) -> io::Result<Option<Self>> {
        let mut file = BufReader::new(File::open(path)?);
        let mut begin = [0; BEGIN as usize];
        match file.read_exact(&mut begin) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let Some(salt) = begin.strip_prefix(MAGIC).and_then(|salt| salt.try_into().ok()) else {
            return Ok(None);
        };
        Ok(Some(Self { file, salt, at: BEGIN, until, record: Vec::new() }))
    }

    /// Reads the next record if `wants` it, else passes it over. Returns `None` at the end, and at a torn record.
    pub(super) fn next(&mut self, wants: impl Fn(&Head) -> bool) -> io::Result<Option<(Head, bool)>> {
        let mut head = [0; Head::BYTES];
        if self.until.saturating_sub(self.at) < Head::BYTES as u64 || !filled(&mut self.file, &mut head)? {
            return Ok(None);
        }
        let Some(read) = Head::read(&head) else { return Ok(None) };
        if self.until - self.at < read.bytes as u64 {
            return Ok(None);
        }
        let wanted = wants(&read);
        if wanted {
            self.record.resize(read.bytes, 0);
            self.record[..Head::BYTES].copy_from_slice(&head);
            if !filled(&mut self.file, &mut self.record[Head::BYTES..])? || !is_whole(&self.record) {
                return Ok(None);
            }
        } else {
            self.file.seek_relative((read.bytes - Head::BYTES) as i64)?;
        }
        self.at += read.bytes as u64;
        Ok(Some((read, wanted)))
    }
}

/// Returns false if the file ends before the buffer is full.
fn filled(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
