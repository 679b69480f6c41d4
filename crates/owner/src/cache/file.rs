//! Files of cached sums: a head, and sealed segments, which are appended.
//!
//! A segment says in the clear how long it is, how many sums it has, and when it was written. Its records are sealed under
//! the device's secret with these numbers and the stream as associated data ([`DeviceSecret::seal`]). Nothing is synced: a
//! segment that a crash cut, or that was changed, ends the file for its reader, who writes it anew.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use sotto_keys::DeviceSecret;
use sotto_ring::secure_rng;
use zeroize::Zeroizing;

use super::record::Record;
use crate::error::{OwnerError, io};
use crate::files::{read_within, write_private};

/// Ending of the files.
pub(super) const ENDING: &str = "sums";

/// The first bytes of a file.
const MAGIC: &[u8; 16] = b"sotto cache v2\n\0";

/// Bytes of a segment's length, number of sums and time.
const HEAD: usize = 4 + 4 + 8;

/// Bytes of records after which a segment ends.
const SEGMENT: usize = 1 << 20;

/// Largest sealed segment, in bytes: it ends with the longest record.
const LARGEST_SEGMENT: u32 = 4 << 20;

/// The public part of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Bytes of the sealed records.
    sealed: u32,
    pub(super) sums: u32,
    /// When it was written, in milliseconds since 1970.
    pub(super) at: i64,
}

impl Head {
    fn read(bytes: &[u8; HEAD]) -> Option<Self> {
        let (sealed, rest) = bytes.split_first_chunk()?;
        let (sums, at) = rest.split_first_chunk()?;
        let head = Self {
            sealed: u32::from_le_bytes(*sealed),
            sums: u32::from_le_bytes(*sums),
            at: i64::from_le_bytes(*at.first_chunk()?),
        };
        (head.sealed <= LARGEST_SEGMENT).then_some(head)
    }

    fn bytes(self) -> Vec<u8> {
        [&self.sealed.to_le_bytes()[..], &self.sums.to_le_bytes(), &self.at.to_le_bytes()].concat()
    }

    /// Returns the words that a segment is sealed with. Documents of other kinds have others.
    fn words(self, stream: &[u8; 32]) -> String {
        format!("cached sums of {}, {} at {}", hex::encode(stream), self.sums, self.at)
    }
}

/// The contents of a file.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) records: Vec<Record>,
    pub(super) bytes: u64,
    pub(super) segments: usize,
    /// True if a part of it does not open.
    pub(super) is_damaged: bool,
}

/// Reads a file of at most `most` bytes. One that is missing has nothing; records behind damage count for nothing.
pub(super) fn read(path: &Path, stream: &[u8; 32], secret: &DeviceSecret, most: u64) -> Contents {
    let mut contents = Contents::default();
    if !path.exists() {
        return contents;
    }
    let read = read_within(path, most);
    let whole = read.ok().and_then(|bytes| {
        contents.bytes = bytes.len() as u64;
        let mut rest = bytes.strip_prefix(MAGIC)?;
        while !rest.is_empty() {
            rest = segment(rest, stream, secret, &mut contents.records)?;
            contents.segments += 1;
        }
        Some(())
    });
    contents.is_damaged = whole.is_none();
    contents
}

/// Reads a segment. Returns the bytes behind it.
fn segment<'b>(
    bytes: &'b [u8],
    stream: &[u8; 32],
    secret: &DeviceSecret,
    records: &mut Vec<Record>,
) -> Option<&'b [u8]> {
    let (head, rest) = bytes.split_first_chunk()?;
    let head = Head::read(head)?;
    let (sealed, rest) = rest.split_at_checked(head.sealed as usize)?;
    let opened = Zeroizing::new(secret.open(&head.words(stream), sealed)?);
    let (mut left, had) = (&opened[..], records.len());
    while !left.is_empty() {
        let Some((record, behind)) = Record::read(left) else {
            records.truncate(had);
            return None;
        };
        records.push(record);
        left = behind;
    }
    Some(rest)
}

/// Returns records as segments, and their number.
fn segments<'r>(
    records: impl Iterator<Item = &'r Record>,
    stream: &[u8; 32],
    secret: &DeviceSecret,
) -> Result<(Vec<u8>, usize), OwnerError> {
    let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
    let at = jiff::Timestamp::now().as_millisecond();
    let (mut all, mut count, mut records) = (Vec::new(), 0, records.peekable());
    while records.peek().is_some() {
        let mut body = Zeroizing::new(Vec::new());
        let mut sums = 0;
        while body.len() < SEGMENT
            && let Some(record) = records.next()
        {
            // No plain bytes stay behind in a smaller buffer.
            if body.capacity() - body.len() < record.size() {
                let mut larger = Zeroizing::new(Vec::with_capacity(2 * body.capacity() + record.size()));
                larger.extend_from_slice(&body);
                body = larger;
            }
            record.write(&mut body);
            sums += 1;
        }
        let words = Head { sealed: 0, sums, at }.words(stream);
        let sealed = secret.seal(&words, &body, &mut rng);
        all.extend(Head { sealed: sealed.len() as u32, sums, at }.bytes());
        all.extend(sealed);
        count += 1;
    }
    Ok((all, count))
}

/// Appends records to a file, which is made if it is missing. Returns the bytes and the number of the segments.
pub(super) fn append<'r>(
    path: &Path,
    records: impl Iterator<Item = &'r Record>,
    stream: &[u8; 32],
    secret: &DeviceSecret,
) -> Result<(u64, usize), OwnerError> {
    let (segments, count) = segments(records, stream, secret)?;
    let mut options = fs::File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(io(path))?;
    let is_new = file.metadata().map_err(io(path))?.len() == 0;
    let bytes = if is_new { [&MAGIC[..], &segments].concat() } else { segments };
    file.write_all(&bytes).map_err(io(path))?;
    Ok((bytes.len() as u64, count))
}

/// Replaces a file by one of these records. Returns its bytes and the number of the segments.
pub(super) fn replace<'r>(
    path: &Path,
    records: impl Iterator<Item = &'r Record>,
    stream: &[u8; 32],
    secret: &DeviceSecret,
) -> Result<(u64, usize), OwnerError> {
    let (segments, count) = segments(records, stream, secret)?;
    let bytes = [&MAGIC[..], &segments].concat();
    write_private(path, &bytes)?;
    Ok((bytes.len() as u64, count))
}

/// Returns the heads of a file's segments, which are read without a key.
pub(super) fn heads(path: &Path) -> std::io::Result<Vec<Head>> {
    let mut file = fs::File::open(path)?;
    let end = file.metadata()?.len();
    let (mut magic, mut heads, mut at) = ([0; MAGIC.len()], Vec::new(), MAGIC.len() as u64);
    if end < at {
        return Ok(heads);
    }
    file.read_exact(&mut magic)?;
    while magic == *MAGIC && at + HEAD as u64 <= end {
        let mut head = [0; HEAD];
        file.read_exact(&mut head)?;
        let Some(head) = Head::read(&head).filter(|head| at + (HEAD as u64) + u64::from(head.sealed) <= end)
        else {
            break;
        };
        heads.push(head);
        at += HEAD as u64 + u64::from(head.sealed);
        file.seek(SeekFrom::Start(at))?;
    }
    Ok(heads)
}
