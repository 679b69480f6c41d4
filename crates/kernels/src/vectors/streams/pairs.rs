//! Packed bits by pairs of values: the 16 bytes of a pair are shifted and moved to their place at once. Layout:
//! docs/math/sampling.md.

use core::arch::x86_64::*;

use crate::streams::Streams;
use crate::vectors::avx2::Avx2;
use crate::vectors::lanes::Lanes;

/// A value of more bits does not fit into a word once it begins at its bit of a byte; values of fewer may share a byte
/// with two others.
const BITS: core::ops::RangeInclusive<u32> = 8..=57;

/// The places of one line's two pairs within a group of eight values.
struct Pairs {
    /// Shift of each value, so that it begins at its bit of a byte.
    up: __m256i,
    /// Shift of the value before each pair, so that the bits which share the pair's first byte come to its beginning. 64
    /// clears the other lanes.
    down: __m256i,
    /// The place of the bytes of the first value of each pair, and of the second.
    bytes: [__m256i; 2],
    /// The byte where each pair begins.
    starts: [usize; 2],
}

impl Pairs {
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn new(l: Avx2, bits: u32, line: u32) -> Self {
        let (mut up, mut down, mut bytes) = ([0; 4], [64; 4], [[0x80u8; 32]; 2]);
        let mut starts = [0; 2];
        for pair in 0..2 {
            let first = (4 * line + 2 * pair as u32) * bits;
            starts[pair] = (first / 8) as usize;
            down[2 * pair] = u64::from(bits - first % 8);
            for (half, bytes) in bytes.iter_mut().enumerate() {
                let bit = first % 8 + half as u32 * bits;
                up[2 * pair + half] = u64::from(bit % 8);
                // The instruction moves bytes within each 16, and clears those whose index is 128 or more.
                for byte in 0..8.min(16 - bit as usize / 8) {
                    bytes[16 * pair + bit as usize / 8 + byte] = (8 * half + byte) as u8;
                }
            }
        }
        let bytes = bytes.each_ref().map(|bytes| l.load_bytes(bytes));
        Self { up: l.load(&up), down: l.load(&down), bytes, starts }
    }

    /// Writes two pairs. `before` holds in lanes 0 and 2 the value before each pair.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn write(&self, values: __m256i, before: __m256i, window: &mut [u8; 64]) {
        let shared = _mm256_srlv_epi64(before, self.down);
        let words = _mm256_or_si256(_mm256_sllv_epi64(values, self.up), shared);
        let [first, second] =
            [_mm256_shuffle_epi8(words, self.bytes[0]), _mm256_shuffle_epi8(words, self.bytes[1])];
        let pairs = _mm256_or_si256(first, second);
        for (pair, start) in
            [_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs)].into_iter().zip(self.starts)
        {
            let bytes = window[start..].first_chunk_mut::<16>().expect("a pair begins at most 43 bytes on");
            // SAFETY: a reference to 16 writable bytes; the store takes any alignment.
            unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), pair) }
        }
    }
}

/// Packs eight values at a time. Bytes beyond a pair's are zero, and overwritten by the next pair.
#[target_feature(enable = "avx2,fma")]
pub(super) fn pack(l: Avx2, values: &[u64], bits: u32, out: &mut [u8]) {
    let fits = BITS.contains(&bits);
    let lines = [0, 1].map(|line| Pairs::new(l, if fits { bits } else { *BITS.start() }, line));
    let (step, mut done) = (bits as usize, 0);
    for group in values.as_chunks::<8>().0.iter().take(if fits { values.len() } else { 0 }) {
        let Some(window) = out.get_mut(done * step..).and_then(|bytes| bytes.first_chunk_mut::<64>()) else {
            break;
        };
        let [(first, _), (second, _)] = [&group[..4], &group[4..]].map(Avx2::lines);
        let (low, high) = (l.load(&first[0]), l.load(&second[0]));
        // The first pair of a group begins at a byte, so nothing comes before it: its shift clears every value.
        lines[0].write(low, _mm256_permute4x64_epi64::<0b01_01_00_00>(low), window);
        let before = _mm256_permute2x128_si256::<0x21>(low, high);
        lines[1].write(high, _mm256_unpackhi_epi64(before, high), window);
        done += 1;
    }
    (Streams::SCALAR.pack)(&values[8 * done..], bits, &mut out[done * step..]);
}
