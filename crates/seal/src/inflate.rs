//! Compression. Inflation stops at a limit, and allocates nothing beyond it but a chunk and the decoder's
//! window: 8 MiB at most, in a buffer that grows by halves and so may be 12.6 MiB.

use std::io::{Read, Write};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::CompressionLevel;
use zeroize::Zeroizing;

use crate::error::SealError;
use crate::header::Compression;

/// The largest window: SEAL's level of Zstandard uses 2 MiB.
const WINDOW: u64 = 1 << 23;
/// Most that is read at once.
const CHUNK: usize = 1 << 16;

/// The members, of which there are at most `limit` bytes.
pub(crate) fn inflate(
    bytes: &[u8],
    compression: Compression,
    limit: u64,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let too_large = SealError::TooLarge { limit };
    if compression == Compression::None {
        return if bytes.len() as u64 > limit { Err(too_large) } else { Ok(Zeroizing::new(bytes.to_vec())) };
    }
    // Twice, so that the memory is what is needed, and is taken once: a vector that grows would leave copies of a secret key
    // behind, and one that is made large enough for anything is larger than a small device.
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

/// An empty vector with room for `bytes`, which may be more than there is.
fn reserved(bytes: usize) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let mut out = Zeroizing::new(Vec::new());
    out.try_reserve_exact(bytes).map_err(|_| SealError::Memory { bytes: bytes as u64 })?;
    Ok(out)
}

/// What the members are when inflated: the first `prefix` bytes, and how many there are; None above `limit`.
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
            // By hand: what was left behind is wiped, which a vector that grows by itself does not do.
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

/// How much to read at once where no more than `limit` bytes are wanted: one more tells that there are too many.
fn chunk_for(limit: u64) -> usize {
    usize::try_from(limit.saturating_add(1)).unwrap_or(CHUNK).min(CHUNK)
}

/// Hands what inflates to `take`, in chunks of at most `chunk` bytes, until that says no; whether it never did. Refuses bytes
/// after the end.
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

/// The members as they are written. What is given back is wiped and was taken once; the encoders' own buffers are not wiped, so
/// that secret keys are not compressed.
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

/// What so many bytes take at most when they do not compress: they are stored in blocks of some kilobytes, each with a few bytes
/// before it, between a header and a checksum.
fn deflated_bytes(bytes: usize, compression: Compression) -> usize {
    match compression {
        Compression::None => bytes,
        Compression::Zlib | Compression::Zstandard => bytes + bytes / 256 + 256,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Members that compress a thousandfold, and some that do not compress at all.
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
                // Neither more, nor the capacity of a vector that grew, and left unwiped copies behind.
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
                // A vector that grew has more, and left unwiped copies behind.
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
