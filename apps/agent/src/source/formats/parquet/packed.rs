//! Compressed pages, decompressed up to a bound.

use std::io::Read;

use bytes::Bytes;
use parquet::basic::Compression;
use ruzstd::decoding::StreamingDecoder;

/// Maximum bytes of a page, compressed or not: 128 MiB. Usual pages have 1 MiB.
pub(super) const LARGEST_PAGE: usize = 128 << 20;
/// Maximum window of Zstandard: 32 MiB.
const LARGEST_WINDOW: u64 = 32 << 20;

/// Snappy makes at most 64 bytes of three.
const MOST_OF_SNAPPY: usize = 32;

/// Decompresses the bytes of a page.
pub(super) fn unpacked(bytes: Bytes, compression: Compression) -> Result<Bytes, String> {
    let damaged = || "a page is damaged".to_owned();
    // A page without values has no bytes.
    if bytes.is_empty() {
        return Ok(bytes);
    }
    let unpacked = match compression {
        Compression::UNCOMPRESSED => return Ok(bytes),
        Compression::SNAPPY => {
            let length = snap::raw::decompress_len(&bytes).map_err(|_| damaged())?;
            if length > bytes.len().saturating_mul(MOST_OF_SNAPPY) {
                return Err(damaged());
            }
            let mut out = vec![0; bounded(length)?];
            let count = snap::raw::Decoder::new().decompress(&bytes, &mut out).map_err(|_| damaged())?;
            out.truncate(count);
            out
        }
        Compression::GZIP(_) => all(flate2::read::MultiGzDecoder::new(&*bytes))?,
        Compression::ZSTD(_) => {
            let frame = StreamingDecoder::new_with_max_window_size(&*bytes, LARGEST_WINDOW);
            all(frame.map_err(|_| damaged())?)?
        }
        Compression::LZ4_RAW => block(&bytes)?,
        // Blocks as Hadoop writes them, or a single one, as earlier programs did.
        Compression::LZ4 => match blocks(&bytes)? {
            Some(out) => out,
            None => block(&bytes)?,
        },
        other => {
            return Err(format!(
                "it is compressed with {other}: write it with Snappy, gzip, Zstandard or LZ4"
            ));
        }
    };
    Ok(unpacked.into())
}

fn bounded(length: usize) -> Result<usize, String> {
    if length > LARGEST_PAGE { Err(too_large()) } else { Ok(length) }
}

fn too_large() -> String {
    "a page has more than 128 MiB: write it with smaller pages".to_owned()
}

fn all(reader: impl Read) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let read = reader.take(LARGEST_PAGE as u64 + 1).read_to_end(&mut out);
    read.map_err(|_| "a page is damaged".to_owned())?;
    bounded(out.len())?;
    Ok(out)
}

/// Decompresses one block of LZ4, which does not state its length.
fn block(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = vec![0; bounded(bytes.len().saturating_mul(4).max(4096))?];
    loop {
        match lz4_flex::block::decompress_into(bytes, &mut out) {
            Ok(count) => {
                out.truncate(count);
                return Ok(out);
            }
            Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) if out.len() < LARGEST_PAGE => {
                out = vec![0; (out.len() * 4).min(LARGEST_PAGE)];
            }
            Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) => return Err(too_large()),
            Err(_) => return Err("a page is damaged".to_owned()),
        }
    }
}

/// Decompresses blocks that have their lengths before them; `None` if the bytes are no such blocks.
fn blocks(mut bytes: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let Some((lengths, rest)) = bytes.split_first_chunk::<8>() else { return Ok(None) };
        let length = |at: usize| {
            u32::from_be_bytes([lengths[at], lengths[at + 1], lengths[at + 2], lengths[at + 3]]) as usize
        };
        let (Some(block), Some(behind)) = (rest.get(..length(4)), rest.get(length(4)..)) else {
            return Ok(None);
        };
        let start = out.len();
        let Some(end) = start.checked_add(length(0)) else { return Ok(None) };
        // Bytes of another layout state lengths at random.
        if length(0) > block.len().saturating_mul(256) {
            return Ok(None);
        }
        out.resize(bounded(end)?, 0);
        match lz4_flex::block::decompress_into(block, &mut out[start..]) {
            Ok(count) if count == length(0) => bytes = behind,
            _ => return Ok(None),
        }
    }
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<(Compression, Vec<u8>)> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(bytes).unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
        let lz4 = lz4_flex::block::compress(bytes);
        let half = |part: &[u8]| {
            let block = lz4_flex::block::compress(part);
            [&(part.len() as u32).to_be_bytes()[..], &(block.len() as u32).to_be_bytes(), &block].concat()
        };
        let hadoop = [half(&bytes[..bytes.len() / 2]), half(&bytes[bytes.len() / 2..])].concat();
        vec![
            (Compression::UNCOMPRESSED, bytes.to_vec()),
            (Compression::SNAPPY, snap::raw::Encoder::new().compress_vec(bytes).unwrap()),
            (Compression::GZIP(Default::default()), gzip.finish().unwrap()),
            (Compression::ZSTD(Default::default()), zstd),
            (Compression::LZ4_RAW, lz4.clone()),
            (Compression::LZ4, hadoop),
            (Compression::LZ4, lz4),
        ]
    }

    #[test]
    fn pages_come_back() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(|number| (number / 300).to_le_bytes()).collect();
        for (compression, packed) in packed(&bytes) {
            assert_eq!(unpacked(packed.into(), compression).unwrap(), bytes, "{compression}");
        }
    }

    #[test]
    fn more_than_the_bound_is_refused() {
        let zeros = vec![0; LARGEST_PAGE + 1];
        for (compression, packed) in packed(&zeros).into_iter().skip(1) {
            let why = unpacked(packed.into(), compression).unwrap_err();
            assert!(why.contains("128 MiB"), "{compression}: {why}");
        }
        let why = unpacked(Bytes::from_static(b"x"), Compression::LZO).unwrap_err();
        assert!(why.contains("LZO") && why.contains("Zstandard"), "{why}");
    }
}
