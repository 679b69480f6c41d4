//! Compression. Inflation stops at a limit. Beyond that limit it allocates only a chunk and the decoder's
//! window, at most 8 MiB, in a buffer that grows by halves and so may take 12.6 MiB.

use std::io::{Read, Write};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::CompressionLevel;
use zeroize::Zeroizing;

use crate::compression::Compression;
use crate::error::SealError;

/// Maximum bytes of the window; SEAL's level of Zstandard uses 2 MiB.
const WINDOW: u64 = 1 << 23;
/// Maximum bytes read at once.
const CHUNK: usize = 1 << 16;

/// Inflates members of at most `limit` bytes.
pub(crate) fn inflate(
    bytes: &[u8],
    compression: Compression,
    limit: u64,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let too_large = SealError::TooLarge { limit };
    if compression == Compression::None {
        return if bytes.len() as u64 > limit { Err(too_large) } else { Ok(Zeroizing::new(bytes.to_vec())) };
    }
    // Inflates twice: first to count, then into a buffer of exactly that size. A vector that grows would
    // leave copies of a secret key behind, and a buffer of `limit` bytes may exceed a small device's memory.
    let (_, total) = survey(bytes, compression, 0, limit)?;
    let Some(total) = total.and_then(|total| usize::try_from(total).ok()) else { return Err(too_large) };
    let mut out = reserved(total)?;
    let mut all = |chunk: &[u8]| {
        let fits = chunk.len() <= total - out.len();
        if fits {
            out.extend_from_slice(chunk);
        }
        fits
    };
    if run(bytes, compression, chunk_for(limit), &mut all)? { Ok(out) } else { Err(too_large) }
}

/// Returns an empty vector with room for `bytes`, or an error if they cannot be allocated.
fn reserved(bytes: usize) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let mut out = Zeroizing::new(Vec::new());
    out.try_reserve_exact(bytes).map_err(|_| SealError::Memory { bytes: bytes as u64 })?;
    Ok(out)
}

/// Inflates members, and returns their first `prefix` bytes and their total length. The length is None if it
/// exceeds `limit`.
pub(crate) fn survey(
    bytes: &[u8],
    compression: Compression,
    prefix: usize,
    limit: u64,
) -> Result<(Zeroizing<Vec<u8>>, Option<u64>), SealError> {
    let (mut start, mut total) = (Zeroizing::new(Vec::new()), 0u64);
    let mut count = |chunk: &[u8]| {
        let wanted = prefix.saturating_sub(start.len()).min(chunk.len());
        if start.capacity() < start.len() + wanted {
            // Grows by hand, so that the old buffer is wiped; a vector that grows by itself does not do that.
            let mut larger = Zeroizing::new(Vec::new());
            larger.reserve_exact(prefix.min(2 * (start.len() + wanted)));
            larger.extend_from_slice(&start);
            start = larger;
        }
        start.extend_from_slice(&chunk[..wanted]);
        total += chunk.len() as u64;
        total <= limit
    };
    let whole = match compression {
        Compression::None => count(bytes),
        _ => run(bytes, compression, chunk_for(limit), &mut count)?,
    };
    Ok((start, whole.then_some(total)))
}

/// Returns the bytes to read at once if at most `limit` bytes are wanted: one more shows that there are too
/// many.
fn chunk_for(limit: u64) -> usize {
    usize::try_from(limit.saturating_add(1)).unwrap_or(CHUNK).min(CHUNK)
}

/// Inflates and passes chunks of at most `chunk` bytes to `take`, until it returns false. Returns true if it
/// never did. Refuses bytes after the end of the compressed stream.
fn run(
    bytes: &[u8],
    compression: Compression,
    chunk: usize,
    take: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<bool, SealError> {
    let failed = |_| SealError::Inflate;
    let mut chunk = Zeroizing::new(vec![0; chunk]);
    let mut drain = |source: &mut dyn Read| -> Result<bool, SealError> {
        loop {
            let count = source.read(&mut chunk).map_err(failed)?;
            if count == 0 {
                return Ok(true);
            }
            if !take(&chunk[..count]) {
                return Ok(false);
            }
        }
    };
    let (whole, left) = match compression {
        Compression::Zstandard => {
            let mut decoder =
                StreamingDecoder::new_with_max_window_size(bytes, WINDOW).map_err(|_| SealError::Inflate)?;
            let whole = drain(&mut decoder)?;
            (whole, decoder.into_inner().len())
        }
        _ => {
            let mut decoder = flate2::bufread::ZlibDecoder::new(bytes);
            let whole = drain(&mut decoder)?;
            (whole, decoder.into_inner().len())
        }
    };
    if whole && left > 0 {
        return Err(SealError::Trailing { extra: left as u64 });
    }
    Ok(whole)
}

/// Compresses members. The returned buffer is wiped and allocated once. The encoders' own buffers are not
/// wiped, so secret keys are not compressed.
pub(crate) fn deflate(bytes: &[u8], compression: Compression) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(Vec::with_capacity(deflated_bytes(bytes.len(), compression)));
    match compression {
        Compression::None => out.extend_from_slice(bytes),
        Compression::Zlib => {
            let mut encoder = flate2::write::ZlibEncoder::new(&mut *out, flate2::Compression::default());
            // Writing to a vector cannot fail.
            let _ = encoder.write_all(bytes).and_then(|()| encoder.finish().map(|_| ()));
        }
        Compression::Zstandard => ruzstd::encoding::compress(bytes, &mut *out, CompressionLevel::Fastest),
    }
    out
}

/// Returns the maximum bytes of compressed members. Incompressible bytes are stored in blocks of some
/// kilobytes, each with a few bytes before it, between a header and a checksum.
fn deflated_bytes(bytes: usize, compression: Compression) -> usize {
    match compression {
        Compression::None => bytes,
        Compression::Zlib | Compression::Zstandard => bytes + bytes / 256 + 256,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Members that compress a thousandfold, and some that do not compress.
    fn members() -> [Vec<u8>; 2] {
        let mut state = 1u64;
        let mut noise = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 56) as u8
        };
        [vec![0; 1_000_003], (0..200_003).map(|_| noise()).collect()]
    }

    #[test]
    fn what_is_reserved_is_what_is_needed() {
        for members in members() {
            for compression in [Compression::Zlib, Compression::Zstandard] {
                let bytes = deflate(&members, compression);
                let inflated = inflate(&bytes, compression, 1 << 40).unwrap();
                assert!(*inflated == members, "{compression:?}");
                // A vector that grew would have more capacity, and would have left unwiped copies behind.
                let most = members.len() + members.len() / 16;
                assert!(inflated.capacity() <= most, "{compression:?}: {}", inflated.capacity());
                let (exact, less) = (members.len() as u64, members.len() as u64 - 1);
                assert!(inflate(&bytes, compression, exact).is_ok(), "{compression:?}");
                let refused = inflate(&bytes, compression, less);
                assert!(matches!(refused, Err(SealError::TooLarge { .. })), "{compression:?}");
            }
        }
    }

    #[test]
    fn what_is_written_is_taken_once() {
        for members in members() {
            for compression in [Compression::None, Compression::Zlib, Compression::Zstandard] {
                let bytes = deflate(&members, compression);
                // A vector that grew would have more capacity, and would have left unwiped copies behind.
                let reserved = deflated_bytes(members.len(), compression);
                assert_eq!(bytes.capacity(), reserved, "{compression:?}");
                assert!(bytes.len() <= reserved, "{compression:?}");
            }
        }
    }

    #[test]
    fn more_memory_than_there_is_is_refused() {
        let bytes = usize::MAX / 2;
        assert_eq!(reserved(bytes).err(), Some(SealError::Memory { bytes: bytes as u64 }));
    }

    #[test]
    fn a_prefix_is_the_first_bytes_whatever_the_chunks() {
        for members in members() {
            for compression in [Compression::None, Compression::Zlib, Compression::Zstandard] {
                let bytes = deflate(&members, compression);
                for prefix in [0, 1, CHUNK, 150_001, members.len(), members.len() + 5] {
                    let (start, total) = survey(&bytes, compression, prefix, 1 << 40).unwrap();
                    assert!(*start == members[..prefix.min(members.len())], "{compression:?} {prefix}");
                    assert!(start.capacity() <= prefix, "{compression:?} {prefix}: {}", start.capacity());
                    assert_eq!(total, Some(members.len() as u64), "{compression:?}");
                }
            }
        }
    }
}
