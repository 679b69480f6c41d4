//! The journal of accepted readings: those that a sender was told are safe, and whose windows are still open.
//!
//! One journal serves all devices, so that one sync makes the readings of all who wait durable. Each record is encrypted
//! under the key of its own device. A batch of records is written at once; a kill may tear the last one, which nobody was
//! told of. Records of a device are needed until their windows are in its spool; a file goes once no device needs it, and one
//! of which little is needed is written again without the rest, in the same order.

mod record;
mod segment;
#[cfg(test)]
mod tests;
mod trim;

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chacha20poly1305::XChaCha20Poly1305;
use rand_core::Rng as _;
use zeroize::Zeroizing;

use record::{BEGIN, MAGIC, SALT};
pub(crate) use record::{DeviceId, Head, Kind};
use segment::{Segment, SegmentReader};

use crate::spool::durable;

/// Bytes at which the next file begins.
const SEGMENT: u64 = 32 << 20;
/// Bytes beside its rows that a record takes.
#[cfg(test)]
const OVERHEAD: usize = Head::BYTES + 16 + 4;

/// The rows of one device in a batch.
pub(crate) struct Accepted<'a> {
    pub(crate) device: DeviceId,
    pub(crate) cipher: &'a XChaCha20Poly1305,
    /// The names of its channels, one a line.
    pub(crate) channels: &'a Arc<str>,
    /// See [`super::rows`].
    pub(crate) rows: &'a [u8],
}

/// The journal of a gateway.
pub(crate) struct ReadingsJournal {
    folder: PathBuf,
    segment_bytes: u64,
    /// Bytes of all files.
    bytes: AtomicU64,
    /// The number of the next batch.
    next: AtomicU64,
    files: Mutex<Files>,
}

struct Files {
    /// In order; the last one is written.
    segments: Vec<Segment>,
    writer: Option<Writer>,
    /// For each device, the first batch that it may need: those before it are in its spool.
    settled: HashMap<DeviceId, u64>,
}

/// The open file.
struct Writer {
    file: File,
    salt: [u8; SALT],
    /// The channels of each device, as the file states them.
    named: HashMap<DeviceId, Arc<str>>,
}

impl ReadingsJournal {
    /// Opens the journal in a folder, and passes over a torn end.
    ///
    /// # Errors
    /// The I/O error.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        Self::with_segments(folder, SEGMENT)
    }

    fn with_segments(folder: &Path, segment_bytes: u64) -> io::Result<Self> {
        durable::remove_leftovers(folder)?;
        let (mut segments, mut bytes, mut next) = (Vec::new(), 0, 0);
        for (first, path) in segment::all(folder)? {
            let mut segment = Segment { path, first, bytes: BEGIN, devices: HashMap::new() };
            let length = fs::metadata(&segment.path)?.len();
            let Some(mut reader) = SegmentReader::open(&segment.path, length)? else {
                // A kill came before its first record.
                fs::remove_file(&segment.path)?;
                continue;
            };
            while let Some((head, _)) = reader.next(|_| true)? {
                segment.note(&head);
                next = next.max(head.batch + 1);
            }
            if reader.at < length {
                let path = segment.path.display();
                tracing::warn!(%path, at = reader.at, length, "the journal of readings has a torn end, of which no sender was told");
            }
            bytes += segment.bytes;
            next = next.max(first + 1);
            segments.push(segment);
        }
        let files = Files { segments, writer: None, settled: HashMap::new() };
        let (bytes, next) = (AtomicU64::new(bytes), AtomicU64::new(next));
        Ok(Self { folder: folder.to_owned(), segment_bytes, bytes, next, files: Mutex::new(files) })
    }

    /// Returns the bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of the next batch: all before it are durable.
    pub(crate) fn next_batch(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }

    /// Returns the devices of which the journal has records.
    pub(crate) fn devices(&self) -> Vec<DeviceId> {
        let files = self.lock();
        let mut devices: Vec<DeviceId> =
            files.segments.iter().flat_map(|segment| segment.devices.keys().copied()).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// Writes a batch durably and returns its number. After an error none of it is there.
    ///
    /// # Errors
    /// The I/O error: the disk may be full.
    pub(crate) fn append(&self, batch: &[Accepted<'_>]) -> io::Result<u64> {
        let mut files = self.lock();
        let number = self.next.load(Ordering::Relaxed);
        let is_long = files.segments.last().is_some_and(|last| last.bytes >= self.segment_bytes);
        if files.writer.is_none() || is_long {
            let (segment, writer) = self.begin(number)?;
            self.bytes.fetch_add(segment.bytes, Ordering::Relaxed);
            files.segments.push(segment);
            files.writer = Some(writer);
        }
        let Files { segments, writer, .. } = &mut *files;
        let (Some(writer), Some(segment)) = (writer.as_mut(), segments.last_mut()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        // A number that failed is not given again: its nonces may be on the disk.
        self.next.store(number + 1, Ordering::Release);
        let (mut bytes, mut named) = (Vec::new(), Vec::new());
        for accepted in batch {
            let mut put = |kind: Kind, clear: &[u8]| {
                let place = (accepted.device, number, kind);
                record::write(&mut bytes, &writer.salt, accepted.cipher, place, clear)
            };
            let is_named = writer.named.get(&accepted.device).is_some_and(|names| names == accepted.channels);
            if !is_named {
                put(Kind::Channels, accepted.channels.as_bytes());
                named.push((accepted.device, Arc::clone(accepted.channels)));
            }
            if !put(Kind::Rows, accepted.rows) {
                return Err(io::Error::other("a batch of readings is too long"));
            }
        }
        let written = writer.file.write_all(&bytes).and_then(|()| writer.file.sync_data());
        if let Err(error) = written {
            let back = writer.file.set_len(segment.bytes).and_then(|()| writer.file.seek(SeekFrom::End(0)));
            if back.is_err() {
                // The next batch begins a file: this one ends with a torn record.
                files.writer = None;
            }
            return Err(error);
        }
        writer.named.extend(named);
        let mut rest = &bytes[..];
        while let Some(head) = Head::read(rest) {
            segment.note(&head);
            rest = rest.get(head.bytes..).unwrap_or_default();
        }
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(number)
    }

    /// Begins a file.
    fn begin(&self, first: u64) -> io::Result<(Segment, Writer)> {
        let path = Segment::path(&self.folder, first);
        let mut salt = [0; SALT];
        let rng = sotto_ring::secure_rng().map_err(|error| io::Error::other(error.to_string()));
        rng?.fill_bytes(&mut salt);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let begun = file.write_all(&[&MAGIC[..], &salt].concat()).and_then(|()| file.sync_all());
        if let Err(error) = begun.and_then(|()| durable::sync_folder_of(&path)) {
            // On a full disk it would take space from the next attempt.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        let segment = Segment { path, first, bytes: BEGIN, devices: HashMap::new() };
        Ok((segment, Writer { file, salt, named: HashMap::new() }))
    }

    /// Passes on the records of wanted devices from a batch on, and the names of their channels, in order. `each` gets the
    /// head of a record and a function that decrypts it, and may end the reading. Returns the number of the first batch that
    /// was not read.
    ///
    /// # Errors
    /// The I/O error.
    pub(crate) fn read_from(
        &self,
        from: u64,
        wants: impl Fn(&DeviceId) -> bool,
        mut each: impl FnMut(&Head, &dyn Fn(&XChaCha20Poly1305) -> Option<Zeroizing<Vec<u8>>>) -> ControlFlow<()>,
    ) -> io::Result<u64> {
        let (segments, next) = {
            let files = self.lock();
            let behind = |at: usize| files.segments.get(at + 1).map(|next| next.first);
            let all = files.segments.iter().enumerate();
            // A segment ends where the next one begins.
            let needed = all.filter(|(at, _)| behind(*at).is_none_or(|behind| behind > from));
            let segments: Vec<(PathBuf, u64)> =
                needed.map(|(_, segment)| (segment.path.clone(), segment.bytes)).collect();
            (segments, self.next_batch())
        };
        for (path, bytes) in segments {
            let mut reader = match SegmentReader::open(&path, bytes) {
                // No device needs it any more.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => match opened? {
                    Some(reader) => reader,
                    None => continue,
                },
            };
            let is_wanted =
                |head: &Head| wants(&head.device) && (head.kind == Kind::Channels || head.batch >= from);
            while let Some((head, wanted)) = reader.next(is_wanted)? {
                let open =
                    |cipher: &XChaCha20Poly1305| record::open(&reader.record, &reader.salt, cipher, &head);
                if wanted && each(&head, &open).is_break() {
                    return Ok(head.batch);
                }
            }
        }
        Ok(next)
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
