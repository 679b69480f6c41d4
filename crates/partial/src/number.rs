//! Large numbers as words and as bytes of fixed length.

use alloc::vec::Vec;

use crypto_bigint::BoxedUint;
use zeroize::Zeroizing;

/// Returns the number as 64-bit words, least significant first, as the kernels take them. Wiped on drop.
pub fn words(number: &BoxedUint) -> Zeroizing<Vec<u64>> {
    let bytes = Zeroizing::new(number.to_le_bytes().into_vec());
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    Zeroizing::new(bytes.chunks(8).map(word).collect())
}

/// Makes a number of 64-bit words, least significant first.
pub fn from_words(words: &[u64]) -> BoxedUint {
    let bytes: Zeroizing<Vec<u8>> =
        Zeroizing::new(words.iter().flat_map(|word| word.to_le_bytes()).collect());
    BoxedUint::from_le_slice_truncated(&bytes, words.len() as u32 * 64)
}

/// Returns big-endian bytes of fixed length. The number must fit.
pub fn to_bytes(words: &[u64], length: usize) -> Vec<u8> {
    let byte = |i: usize| words.get(i / 8).map_or(0, |word| (word >> (8 * (i % 8))) as u8);
    (0..length).rev().map(byte).collect()
}

/// Makes a number of big-endian bytes of any length.
pub fn from_bytes(bytes: &[u8]) -> BoxedUint {
    BoxedUint::from_be_slice_truncated(bytes, (bytes.len() as u32 * 8).next_multiple_of(64).max(64))
}

/// Returns the words of a number below a modulus of `count` words, padded with zeros.
pub(crate) fn words_of(number: &BoxedUint, count: usize) -> Zeroizing<Vec<u64>> {
    let short = words(number);
    // Allocated at full length: a vector that grows leaves a copy of a secret behind.
    let mut words = Zeroizing::new(vec![0; count.max(short.len())]);
    words[..short.len()].copy_from_slice(&short);
    words.truncate(count);
    words
}
