//! Prefetching of words into the cache.

/// Prefetches words into the second-level cache. Use it for rows that are read next in so many pieces that the hardware
/// prefetcher does not recognise them. Does nothing on processors other than x86-64.
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
