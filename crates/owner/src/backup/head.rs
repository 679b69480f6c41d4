//! The heads of a backup's file and of its segments, readable without the passphrase.

use std::io::{self, Read, Seek, SeekFrom};

/// First bytes of a backup, with the version of its format.
const MAGIC: &[u8; 9] = b"sottobak\x01";

/// First bytes of a segment.
const SEGMENT: &[u8; 8] = b"segment1";

const DIGEST: usize = 32;

pub(super) const SALT: usize = 32;

/// Bytes of a plant's id.
pub(super) const PLANT: usize = 16;

/// Bytes of a nonce of STREAM: those of XChaCha20-Poly1305 without counter and mark.
pub(super) const NONCE: usize = 19;

/// Bytes of a segment's head.
pub(super) const SEGMENT_HEAD: usize = SEGMENT.len() + 4 + 8 + 8 + DIGEST + NONCE + DIGEST;

/// Bytes that are searched at once.
const SEARCHED: usize = 64 << 10;

/// Largest key file in a head, in bytes.
const LARGEST_KEY: usize = 512;

/// The head of a backup.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileHead {
    /// A key file of the kind `Plant`, under a passphrase.
    pub(super) key_file: Vec<u8>,
    /// The plant's id, random, which its folder notes.
    pub(super) plant: [u8; PLANT],
    pub(super) salt: [u8; SALT],
}

/// The head of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SegmentHead {
    /// From 0.
    pub(super) number: u32,
    /// Time at which it was begun, in milliseconds since 1970.
    pub(super) at: i64,
    /// Bytes of its chunks.
    pub(super) bytes: u64,
    /// Keyed digest of its list of files.
    pub(super) list: [u8; DIGEST],
    pub(super) nonce: [u8; NONCE],
}

impl FileHead {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(self.key_file.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&self.key_file);
        bytes.extend_from_slice(&self.plant);
        bytes.extend_from_slice(&self.salt);
        with_digest(bytes)
    }

    /// Reads a head. Returns None if the bytes are no head of a backup.
    fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut bytes = read_up_to(from, MAGIC.len() + 2)?;
        let Some((MAGIC, length)) = bytes.split_first_chunk() else { return Ok(None) };
        let Ok(length) = <[u8; 2]>::try_from(length) else { return Ok(None) };
        let length = usize::from(u16::from_le_bytes(length));
        if length > LARGEST_KEY {
            return Ok(None);
        }
        bytes.extend(read_up_to(from, length + PLANT + SALT + DIGEST)?);
        let Some(body) = without_digest(&bytes) else { return Ok(None) };
        let Some((rest, salt)) = body[MAGIC.len() + 2..].split_last_chunk() else { return Ok(None) };
        let Some((key_file, plant)) = rest.split_last_chunk() else { return Ok(None) };
        let head = || Self { key_file: key_file.to_vec(), plant: *plant, salt: *salt };
        Ok((key_file.len() == length).then(head))
    }
}

impl SegmentHead {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = SEGMENT.to_vec();
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.at.to_le_bytes());
        bytes.extend_from_slice(&self.bytes.to_le_bytes());
        bytes.extend_from_slice(&self.list);
        bytes.extend_from_slice(&self.nonce);
        with_digest(bytes)
    }

    /// Decodes a head. Returns None if the bytes are none.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let body = without_digest(bytes)?.strip_prefix(SEGMENT)?;
        let (number, body) = body.split_first_chunk()?;
        let (at, body) = body.split_first_chunk()?;
        let (length, body) = body.split_first_chunk()?;
        let (list, nonce) = body.split_first_chunk()?;
        Some(Self {
            number: u32::from_le_bytes(*number),
            at: i64::from_le_bytes(*at),
            bytes: u64::from_le_bytes(*length),
            list: *list,
            nonce: nonce.try_into().ok()?,
        })
    }

    /// The associated data of its chunks; `before` is the digest of the list of the segment before.
    pub(super) fn associated(&self, before: &[u8; DIGEST]) -> Vec<u8> {
        [&self.number.to_le_bytes()[..], &self.at.to_le_bytes(), before].concat()
    }
}

/// The structure of a backup, as its heads tell it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heads {
    pub(super) head: FileHead,
    /// Each segment with the place of its first chunk.
    pub(super) segments: Vec<(SegmentHead, u64)>,
    /// The end of the last whole segment.
    pub(super) end: u64,
    /// The bytes after it.
    pub(super) rest: Rest,
}

/// The bytes after the last whole segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// None.
    Nothing,
    /// A segment whose writing was interrupted.
    Torn,
    /// Bytes that no interrupted writing leaves.
    Damaged,
}

impl Heads {
    /// Reads the heads of a backup of `length` bytes. Returns None if it is none.
    pub(super) fn read(file: &mut (impl Read + Seek), length: u64) -> io::Result<Option<Self>> {
        file.seek(SeekFrom::Start(0))?;
        let Some(head) = FileHead::read(file)? else { return Ok(None) };
        let mut end = head.bytes().len() as u64;
        let mut segments: Vec<(SegmentHead, u64)> = Vec::new();
        let rest = loop {
            file.seek(SeekFrom::Start(end))?;
            let bytes = read_up_to(file, SEGMENT_HEAD)?;
            if bytes.is_empty() {
                break Rest::Nothing;
            }
            let Some(segment) = SegmentHead::parse(&bytes) else {
                let is_torn = bytes.len() < SEGMENT_HEAD || bytes.iter().all(|byte| *byte == 0);
                // Nothing follows a segment that was not finished.
                let is_last = is_torn && !has_head(file, end + 1)?;
                break if is_last { Rest::Torn } else { Rest::Damaged };
            };
            let first = end + SEGMENT_HEAD as u64;
            // A copy that was cut ends before its last segment does.
            let Some(next) = first.checked_add(segment.bytes).filter(|next| *next <= length) else {
                break if has_head(file, first)? { Rest::Damaged } else { Rest::Torn };
            };
            if usize::try_from(segment.number).ok() != Some(segments.len()) {
                break Rest::Damaged;
            }
            segments.push((segment, first));
            end = next;
        };
        Ok(Some(Self { head, segments, end, rest }))
    }

    pub(super) fn last(&self) -> Option<&SegmentHead> {
        self.segments.last().map(|(segment, _)| segment)
    }

    /// Returns the digest of the list of the segment before that of a number.
    pub(super) fn list_before(&self, number: u32) -> [u8; DIGEST] {
        let before = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        before.and_then(|before| self.segments.get(before)).map_or([0; DIGEST], |(segment, _)| segment.list)
    }
}

/// Returns true if the head of a segment stands anywhere at or after a place.
fn has_head(file: &mut (impl Read + Seek), from: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    loop {
        let read = read_up_to(file, SEARCHED)?;
        if read.is_empty() {
            return Ok(false);
        }
        bytes.extend(read);
        if bytes
            .windows(SEGMENT_HEAD)
            .any(|window| window.starts_with(SEGMENT) && SegmentHead::parse(window).is_some())
        {
            return Ok(true);
        }
        // A head may begin in the last bytes.
        bytes.drain(..bytes.len().saturating_sub(SEGMENT_HEAD - 1));
    }
}

fn with_digest(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = blake3::hash(&bytes);
    bytes.extend_from_slice(digest.as_bytes());
    bytes
}

fn without_digest(bytes: &[u8]) -> Option<&[u8]> {
    let (body, digest) = bytes.split_last_chunk::<DIGEST>()?;
    (blake3::hash(body) == *digest).then_some(body)
}

/// Reads `length` bytes, or those that there are.
fn read_up_to(from: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    from.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn file(segments: &[(u32, u64)]) -> Vec<u8> {
        let mut bytes = FileHead { key_file: vec![1; 160], plant: [5; PLANT], salt: [2; SALT] }.bytes();
        for (number, length) in segments {
            let head =
                SegmentHead { number: *number, at: 7, bytes: *length, list: [3; 32], nonce: [4; NONCE] };
            bytes.extend(head.bytes());
            bytes.extend(vec![9; usize::try_from(*length).expect("short")]);
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Heads> {
        Heads::read(&mut Cursor::new(bytes), bytes.len() as u64).expect("no I/O")
    }

    #[test]
    fn a_torn_segment_is_told_from_a_damaged_one() {
        let whole = file(&[(0, 100), (1, 50)]);
        let heads = read(&whole).expect("a backup");
        assert_eq!((heads.segments.len(), heads.rest, heads.end), (2, Rest::Nothing, whole.len() as u64));
        let first = whole.len() - 50 - SEGMENT_HEAD;
        for cut in first + 1..whole.len() {
            let heads = read(&whole[..cut]).expect("a backup");
            assert_eq!((heads.segments.len(), heads.rest, heads.end), (1, Rest::Torn, first as u64), "{cut}");
        }
        // Interrupted before its head was written.
        let mut zeros = whole.clone();
        zeros[first..first + SEGMENT_HEAD].fill(0);
        assert_eq!(read(&zeros).expect("a backup").rest, Rest::Torn);
        // Damage before a whole segment.
        let mut zeros = file(&[(0, 100), (1, 100_000), (2, 50)]);
        zeros[first..first + SEGMENT_HEAD].fill(0);
        assert_eq!(read(&zeros).expect("a backup").rest, Rest::Damaged);
        for at in first..first + SEGMENT_HEAD {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert_eq!(read(&changed).expect("a backup").rest, Rest::Damaged, "{at}");
        }
        assert_eq!(read(&file(&[(0, 1), (2, 1)])).expect("a backup").rest, Rest::Damaged);
        assert_eq!(read(b"sottobak"), None);
        for cut in 0..251 {
            assert_eq!(read(&whole[..cut]), None, "{cut}");
        }
    }
}
