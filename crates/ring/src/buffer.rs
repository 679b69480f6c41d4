//! Memory of polynomials. What a thread has freed it takes again: large blocks would otherwise go back to the operating system
//! and come as fresh pages, which cost more than what is computed in them.

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};
use std::collections::VecDeque;

use aligned_vec::{AVec, ConstAlign};

type Words = AVec<u64, ConstAlign<64>>;

/// The most words that a thread keeps: 32 MiB.
const MOST_WORDS: usize = 4 << 20;
/// The most buffers that a thread keeps.
const MOST_BUFFERS: usize = 64;

thread_local! {
    static FREED: RefCell<Freed> = const { RefCell::new(Freed { buffers: VecDeque::new(), words: 0 }) };
}

/// Whether a buffer is more than an eighth longer than what it is for: what is kept in it would hold memory that nobody counts.
fn loose(capacity: usize, length: usize) -> bool {
    capacity > length + length / 8
}

struct Freed {
    buffers: VecDeque<Words>,
    words: usize,
}

impl Freed {
    /// The smallest that is large enough and not [`loose`].
    fn take(&mut self, length: usize) -> Option<Words> {
        let fits = |buffer: &Words| buffer.capacity() >= length && !loose(buffer.capacity(), length);
        let candidates = self.buffers.iter().enumerate().filter(|(_, buffer)| fits(buffer));
        let (index, _) = candidates.min_by_key(|(_, buffer)| buffer.capacity())?;
        let buffer = self.buffers.remove(index)?;
        self.words -= buffer.capacity();
        Some(buffer)
    }

    /// What has not been asked for the longest goes.
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

/// Gives what this thread keeps for reuse, polynomials and wiped vectors, back to the allocator.
pub fn release() {
    let none = || Freed { buffers: VecDeque::new(), words: 0 };
    let _ = FREED.try_with(|freed| freed.replace(none()));
    sotto_kernels::release();
}

/// 64-byte aligned words.
pub(crate) struct Buffer(Words);

pub(crate) fn empty_buffer() -> Buffer {
    Buffer(AVec::new(64))
}

impl Buffer {
    /// So many words; what they hold is unspecified.
    pub(crate) fn unfilled(length: usize) -> Self {
        // A thread that ends has no pool any more.
        let freed = FREED.try_with(|freed| freed.borrow_mut().take(length)).ok().flatten();
        let mut words = freed.unwrap_or_else(|| AVec::with_capacity(64, length));
        words.resize(length, 0);
        Self(words)
    }

    /// So many words; those that are new hold `value`. One that has no memory takes what was freed.
    pub(crate) fn resize(&mut self, length: usize, value: u64) {
        if self.0.capacity() == 0 {
            *self = Self::unfilled(length);
            self.0.as_mut_slice().fill(value);
        }
        self.0.resize(length, value);
    }

    /// Whether it is more than an eighth longer than what it is for.
    pub(crate) fn is_loose(&self, length: usize) -> bool {
        loose(self.0.capacity(), length)
    }

    /// So many zeros.
    pub(crate) fn zeros(length: usize) -> Self {
        let mut buffer = Self::unfilled(length);
        buffer.as_mut_slice().fill(0);
        buffer
    }

    /// A copy of the first words.
    pub(crate) fn start(&self, length: usize) -> Self {
        let mut copy = Self::unfilled(length);
        copy.as_mut_slice().copy_from_slice(&self[..length]);
        copy
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let words = core::mem::replace(&mut self.0, AVec::new(64));
        let _ = FREED.try_with(|freed| freed.borrow_mut().give(words));
    }
}

impl Deref for Buffer {
    type Target = Words;
    fn deref(&self) -> &Words {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Words {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_is_taken_again_within_its_limits() {
        for round in 0..200u64 {
            let mut buffer = Buffer::unfilled(1000);
            buffer.as_mut_slice().fill(round + 1);
            assert_eq!(buffer.len(), 1000);
            assert!(buffer.clone().iter().all(|x| *x == round + 1));
            assert!(Buffer::zeros(900).iter().all(|x| *x == 0));
            let mut grown = empty_buffer();
            grown.resize(1 + round as usize * 7, 3);
            assert!(grown.iter().all(|x| *x == 3));
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
}
