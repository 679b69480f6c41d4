//! Memory of polynomials, reused from a per-thread pool: large blocks would otherwise go back to the operating system
//! and return as fresh pages, which cost more than the computation in them.

#[cfg(feature = "std")]
use alloc::collections::VecDeque;
#[cfg(feature = "std")]
use core::cell::RefCell;
use core::ops::{Deref, DerefMut};

use aligned_vec::{AVec, ConstAlign};

use crate::pages::Pages;

/// Words from the allocator or, if long, in [`Pages`].
enum Words {
    Allocated(AVec<u64, ConstAlign<64>>),
    Pages(Pages),
}

impl Words {
    fn none() -> Self {
        Self::Allocated(AVec::new(64))
    }

    /// Returns this many zeros.
    fn zeros(length: usize) -> Self {
        let allocated = || {
            let mut words = AVec::with_capacity(64, length);
            words.resize(length, 0);
            Self::Allocated(words)
        };
        Pages::zeros(length).map_or_else(allocated, Self::Pages)
    }

    fn capacity(&self) -> usize {
        match self {
            Self::Allocated(words) => words.capacity(),
            Self::Pages(pages) => pages.capacity(),
        }
    }

    /// Sets the length. Range: at most the capacity; words that come into use are unspecified.
    fn set_length(&mut self, length: usize) {
        match self {
            Self::Allocated(words) => words.resize(length, 0),
            Self::Pages(pages) => pages.set_length(length),
        }
    }
}

/// Maximum number of words that a thread keeps: 32 MiB.
#[cfg(feature = "std")]
const MOST_WORDS: usize = 4 << 20;
/// Maximum number of buffers that a thread keeps.
#[cfg(feature = "std")]
const MOST_BUFFERS: usize = 64;

#[cfg(feature = "std")]
thread_local! {
    static FREED: RefCell<Freed> = const { RefCell::new(Freed { buffers: VecDeque::new(), words: 0 }) };
}

/// Returns true if a buffer exceeds the needed length by more than an eighth, so that a value kept in it would hold
/// uncounted memory.
fn loose(capacity: usize, length: usize) -> bool {
    capacity > length + length / 8
}

#[cfg(feature = "std")]
struct Freed {
    buffers: VecDeque<Words>,
    words: usize,
}

#[cfg(feature = "std")]
impl Freed {
    /// Removes and returns the smallest buffer that is large enough and not [`loose`]; of equal ones the one freed last,
    /// which the processor's caches may still hold.
    fn take(&mut self, length: usize) -> Option<Words> {
        let fits = |buffer: &Words| buffer.capacity() >= length && !loose(buffer.capacity(), length);
        let exact = self.buffers.iter().rposition(|buffer| buffer.capacity() == length);
        let best = || {
            let candidates = self.buffers.iter().enumerate().rev().filter(|(_, buffer)| fits(buffer));
            Some(candidates.min_by_key(|(_, buffer)| buffer.capacity())?.0)
        };
        let index = exact.or_else(best)?;
        let buffer = self.buffers.remove(index)?;
        self.words -= buffer.capacity();
        Some(buffer)
    }

    /// Keeps a buffer for reuse, and frees the oldest ones beyond the limits.
    fn give(&mut self, buffer: Words) {
        if buffer.capacity() == 0 || buffer.capacity() > MOST_WORDS {
            return;
        }
        self.words += buffer.capacity();
        self.buffers.push_back(buffer);
        while self.words > MOST_WORDS || self.buffers.len() > MOST_BUFFERS {
            let Some(oldest) = self.buffers.pop_front() else { return };
            self.words -= oldest.capacity();
        }
    }
}

/// Takes memory for this many words from this thread's pool. Returns None if none fits.
#[cfg(feature = "std")]
fn take(length: usize) -> Option<Words> {
    // The pool no longer exists while its thread ends.
    FREED.try_with(|freed| freed.borrow_mut().take(length)).ok().flatten()
}

/// Gives memory to this thread's pool.
#[cfg(feature = "std")]
fn give(words: Words) {
    let _ = FREED.try_with(|freed| freed.borrow_mut().give(words));
}

/// Without `std` there are no pools.
#[cfg(not(feature = "std"))]
fn take(_: usize) -> Option<Words> {
    None
}

#[cfg(not(feature = "std"))]
fn give(_: Words) {}

/// Frees the memory that this thread keeps for reuse: polynomials and wiped vectors. Without `std` it keeps none.
pub fn release() {
    #[cfg(feature = "std")]
    let _ = FREED.try_with(|freed| freed.replace(Freed { buffers: VecDeque::new(), words: 0 }));
    sotto_kernels::release();
}

/// 64-byte aligned words.
pub(crate) struct Buffer(Words);

impl Buffer {
    /// Returns a buffer without memory.
    pub(crate) fn empty() -> Self {
        Self(Words::none())
    }

    /// Returns a buffer from this thread's pool, or None if none fits.
    fn freed(length: usize) -> Option<Self> {
        let mut words = take(length)?;
        words.set_length(length);
        Some(Self(words))
    }

    /// Returns a buffer of this many words with unspecified content.
    pub(crate) fn unfilled(length: usize) -> Self {
        Self::freed(length).unwrap_or_else(|| Self(Words::zeros(length)))
    }

    /// Returns a buffer of this many zeros.
    pub(crate) fn zeros(length: usize) -> Self {
        match Self::freed(length) {
            Some(mut buffer) => {
                buffer.fill(0);
                buffer
            }
            None => Self(Words::zeros(length)),
        }
    }

    /// Makes the buffer at least this long; the content is then unspecified.
    pub(crate) fn lengthen(&mut self, length: usize) {
        if self.capacity() < length {
            *self = Self::unfilled(length);
        } else if self.len() < length {
            self.0.set_length(length);
        }
    }

    /// Returns the number of words that the memory holds.
    pub(crate) fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Returns true if the buffer exceeds this length by more than an eighth.
    pub(crate) fn is_loose(&self, length: usize) -> bool {
        loose(self.0.capacity(), length)
    }

    /// Returns a copy of the first words.
    pub(crate) fn start(&self, length: usize) -> Self {
        let mut copy = Self::unfilled(length);
        copy.copy_from_slice(&self[..length]);
        copy
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        give(core::mem::replace(&mut self.0, Words::none()));
    }
}

impl Deref for Buffer {
    type Target = [u64];
    #[inline]
    fn deref(&self) -> &[u64] {
        match &self.0 {
            Words::Allocated(words) => words,
            Words::Pages(pages) => pages,
        }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        match &mut self.0 {
            Words::Allocated(words) => words,
            Words::Pages(pages) => pages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_is_taken_again_within_its_limits() {
        for round in 0..200u64 {
            let mut buffer = Buffer::unfilled(1000);
            buffer.fill(round + 1);
            assert_eq!(buffer.len(), 1000);
            assert!(buffer.iter().all(|x| *x == round + 1));
            assert!(Buffer::zeros(900).iter().all(|x| *x == 0));
            let mut grown = Buffer::empty();
            grown.lengthen(1 + round as usize * 7);
            assert_eq!(grown.len(), 1 + round as usize * 7);
        }
        let many: Vec<Buffer> = (0..100).map(Buffer::zeros).collect();
        drop(many);
        drop(Buffer::unfilled(MOST_WORDS));
        FREED.with(|freed| {
            let freed = freed.borrow();
            assert!(freed.buffers.len() <= MOST_BUFFERS && freed.words <= MOST_WORDS);
            assert_eq!(freed.words, freed.buffers.iter().map(|buffer| buffer.capacity()).sum::<usize>());
        });
    }

    /// The words of a buffer are aligned, zero when new, and as many as requested, from either kind of memory.
    #[test]
    #[cfg_attr(miri, ignore = "millions of words, all of them from the allocator")]
    fn long_buffers_are_as_short_ones() {
        let huge_page = (2 << 20) / size_of::<u64>();
        for length in [
            1,
            huge_page - 1,
            huge_page,
            huge_page + 1,
            2 * huge_page - 8,
            2 * huge_page + 8,
            5 * huge_page / 2,
        ] {
            release();
            let mut buffer = Buffer::zeros(length);
            assert_eq!(buffer.len(), length);
            assert!(buffer.capacity() >= length && !buffer.is_loose(length));
            assert!(buffer.as_ptr().addr().is_multiple_of(64));
            assert!(buffer.iter().all(|x| *x == 0));
            buffer.fill(u64::MAX);
            assert!(buffer.start(length / 2).iter().all(|x| *x == u64::MAX));
            drop(buffer);
            let mut again = Buffer::unfilled(length - length / 16);
            assert_eq!(again.len(), length - length / 16);
            again.lengthen(length);
            assert_eq!(again.len(), length);
            drop(again);
            assert!(Buffer::zeros(length).iter().all(|x| *x == 0));
        }
    }
}
