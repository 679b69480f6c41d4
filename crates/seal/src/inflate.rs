//! Compression. Inflation stops at a limit, and allocates nothing beyond it but the decoder's window of at most 8 MiB.

use std::io::{Read, Write};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::CompressionLevel;
use zeroize::Zeroizing;

use crate::error::SealError;
use crate::header::Compression;

/// The largest window: SEAL's level of Zstandard uses 2 MiB.
const WINDOW: u64 = 1 << 23;
/// Read at once.
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
    let mut out = Zeroizing::new(Vec::new());
    let mut all = |chunk: &[u8]| {
        if (out.len() + chunk.len()) as u64 > limit {
            return false;
        }
        if out.capacity() == 0 {
            // Once: a vector that grows would leave copies of a secret key behind.
            out.reserve_exact(
                usize::try_from(limit).unwrap_or(usize::MAX).min(bytes.len().saturating_mul(64)),
            );
        }
        out.extend_from_slice(chunk);
        true
    };
    if run(bytes, compression, &mut all)? { Ok(out) } else { Err(too_large) }
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
        start.extend_from_slice(&chunk[..wanted]);
        total += chunk.len() as u64;
        total <= limit
    };
    let whole = match compression {
        Compression::None => count(bytes),
        _ => run(bytes, compression, &mut count)?,
    };
    Ok((start, whole.then_some(total)))
}

/// Hands what inflates to `take`, chunk by chunk, until that says no; whether it never did. Refuses bytes after the end.
fn run(
    bytes: &[u8],
    compression: Compression,
    take: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<bool, SealError> {
    let failed = |_| SealError::Inflate;
    let mut chunk = Zeroizing::new(vec![0; CHUNK]);
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

/// The members as they are written.
pub(crate) fn deflate(bytes: &[u8], compression: Compression) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(match compression {
        Compression::None => bytes.to_vec(),
        Compression::Zlib => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            // Writing to a vector cannot fail.
            encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
        }
        Compression::Zstandard => ruzstd::encoding::compress_to_vec(bytes, CompressionLevel::Fastest),
    })
}
