//! Words on their way to the cache before they are read.

/// Asks for words to be brought to the second-level cache: for rows that are read next in so many pieces that the processor does
/// not see it by itself. Computes nothing, and does nothing on processors other than x86-64.
#[inline]
pub fn prefetch(words: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    for line in words.chunks(8) {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing; the address is that of a reference.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = words;
}
