//! The frame: header, payload, digest.
//!
//! `"sott" ‖ version u8 ‖ kind u8 ‖ 0 u16 ‖ payload length u64 ‖ payload ‖ BLAKE3 of all before`, little-endian.

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::counts::{Counted, count};
use crate::error::WireError;
use crate::hash::{Digest, digest};
use crate::kind::{Kind, OF_PLACES};
use crate::reader::Reader;

/// Length of the digest at the end of every frame.
pub const DIGEST_BYTES: usize = 32;
const MAGIC: [u8; 4] = *b"sott";
const VERSION: u8 = 1;
/// Bytes before a frame's payload.
pub(crate) const HEADER: usize = 16;
/// Bytes of a frame in addition to its payload.
pub const FRAME_OVERHEAD: usize = HEADER + DIGEST_BYTES;

/// Returns a frame. `payload` appends the payload to the buffer; `payload_bytes` is the capacity to reserve.
pub(crate) fn write(kind: Kind, payload_bytes: usize, payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = without_digest(kind, payload_bytes, payload);
    let digest = digest(&out);
    out.extend_from_slice(&digest);
    out
}

/// Returns a frame whose digest is known, like [`write`].
pub(crate) fn write_known(
    kind: Kind,
    payload_bytes: usize,
    payload: impl FnOnce(&mut Vec<u8>),
    digest: &Digest,
) -> Vec<u8> {
    let mut out = without_digest(kind, payload_bytes, payload);
    out.extend_from_slice(digest);
    out
}

fn without_digest(kind: Kind, payload_bytes: usize, payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload_bytes + FRAME_OVERHEAD);
    begin(&mut out, kind, 0);
    payload(&mut out);
    let length = (out.len() - HEADER) as u64;
    out[8..HEADER].copy_from_slice(&length.to_le_bytes());
    out
}

/// Appends the header of a frame with a payload of this length.
pub(crate) fn begin(out: &mut Vec<u8>, kind: Kind, payload_bytes: u64) {
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[VERSION, kind as u8, 0, 0]);
    out.extend_from_slice(&payload_bytes.to_le_bytes());
}

/// Returns the kind and the payload's length that the first bytes declare. Checks nothing else.
///
/// # Errors
/// [`WireError`] if the first bytes are not a frame's header.
pub(crate) fn start(bytes: &[u8]) -> Result<(Kind, u64), WireError> {
    let kind = frame_kind(bytes)?;
    let mut length = [0; 8];
    length.copy_from_slice(&bytes[8..HEADER]);
    Ok((kind, u64::from_le_bytes(length)))
}

/// Checks a frame of one kind and at most `limit` bytes, and returns a reader of its payload.
pub(crate) fn open(bytes: &[u8], kind: Kind, limit: u64) -> Result<Reader<'_>, WireError> {
    let reader = payload(bytes, kind, limit)?;
    let (body, end) = bytes.split_at(bytes.len() - DIGEST_BYTES);
    if digest(body) != end {
        return Err(WireError::Digest);
    }
    Ok(reader)
}

/// Returns a reader of the payload of a frame, like [`open`], without a check of the digest.
pub(crate) fn payload(bytes: &[u8], kind: Kind, limit: u64) -> Result<Reader<'_>, WireError> {
    let found = bytes.len() as u64;
    if found > limit {
        return Err(WireError::TooLarge { limit, found });
    }
    let payload = check_header(bytes, kind)?;
    let expected = payload.saturating_add(FRAME_OVERHEAD as u64);
    if expected > limit {
        return Err(WireError::TooLarge { limit, found: expected });
    }
    if found < expected {
        return Err(WireError::Truncated { expected, found });
    }
    if found > expected {
        return Err(WireError::Trailing { extra: found - expected });
    }
    count(Counted::Parse);
    Ok(Reader::new(&bytes[HEADER..bytes.len() - DIGEST_BYTES]))
}

fn check_header(bytes: &[u8], kind: Kind) -> Result<u64, WireError> {
    if bytes.len() < FRAME_OVERHEAD {
        return Err(WireError::Truncated { expected: FRAME_OVERHEAD as u64, found: bytes.len() as u64 });
    }
    let (found, length) = start(bytes)?;
    if found != kind {
        return Err(WireError::Kind { expected: kind, found: found.to_string() });
    }
    Ok(length)
}

/// Returns the kind of frame that the bytes declare. Checks the header only.
///
/// # Errors
/// [`WireError::Magic`], [`WireError::Version`], [`WireError::Padding`] or [`WireError::Value`] if the header is
/// invalid; [`WireError::Places`] if the frame is one of places.
pub fn frame_kind(bytes: &[u8]) -> Result<Kind, WireError> {
    if bytes.len() < HEADER || bytes[..4] != MAGIC {
        return Err(WireError::Magic);
    }
    if bytes[4] != VERSION {
        return Err(WireError::Version(bytes[4]));
    }
    if bytes[6..8] != [0, 0] {
        return Err(WireError::Padding);
    }
    match bytes[5] {
        number if OF_PLACES.contains(&number) => Err(WireError::Places),
        number => Kind::from_number(number).ok_or(WireError::Value("this kind of frame is not known")),
    }
}

/// Checks a frame's digest and length, and returns the digest.
///
/// # Errors
/// [`WireError`] if the bytes are not exactly one valid frame.
pub fn whole_frame_digest(bytes: &[u8]) -> Result<[u8; DIGEST_BYTES], WireError> {
    let kind = frame_kind(bytes)?;
    open(bytes, kind, u64::MAX)?;
    frame_digest(bytes)
}

/// Returns the digest that ends a frame, unchecked.
///
/// # Errors
/// [`WireError::Truncated`] if the bytes are shorter than a digest.
pub fn frame_digest(bytes: &[u8]) -> Result<[u8; DIGEST_BYTES], WireError> {
    let too_short = WireError::Truncated { expected: FRAME_OVERHEAD as u64, found: bytes.len() as u64 };
    let start = bytes.len().checked_sub(DIGEST_BYTES).ok_or(too_short)?;
    let mut digest = [0; DIGEST_BYTES];
    digest.copy_from_slice(&bytes[start..]);
    Ok(digest)
}
