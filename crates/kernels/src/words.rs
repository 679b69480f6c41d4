//! Signed words as words.

/// Reinterprets signed words, in two's complement, as words.
#[inline(always)]
pub(crate) fn words(values: &[i64]) -> &[u64] {
    // SAFETY: both are eight bytes at the same alignment, and any bits are a value of either.
    unsafe { core::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

/// Reinterprets signed words, in two's complement, as words: residues become signed in place, without a second buffer.
///
/// ```
/// use sotto_kernels::{Modulus, Target, words_mut};
///
/// let mut values = [3, 96];
/// // The residues 3 and 96 modulo 97 are 3 and -1.
/// (Target::best().kernels.centre)(&Modulus::new(97)?, words_mut(&mut values));
/// assert_eq!(values, [3, -1]);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
#[inline(always)]
pub fn words_mut(values: &mut [i64]) -> &mut [u64] {
    // SAFETY: as above; the returned borrow is exclusive like the given one.
    unsafe { core::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) }
}
