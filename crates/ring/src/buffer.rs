//! Memory of polynomials. What a thread has freed it takes again: large blocks would otherwise go back to the operating system
//! and come as fresh pages, which cost more than what is computed in them.

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};

use aligned_vec::{AVec, ConstAlign};

type Words = AVec<u64, ConstAlign<64>>;

/// The most words that a thread keeps: 32 MiB.
const MOST_WORDS: usize = 4 << 20;
/// The most buffers that a thread keeps.
const MOST_BUFFERS: usize = 64;

thread_local! {
    static FREED: RefCell<Freed> = const { RefCell::new(Freed { buffers: Vec::new(), words: 0 }) };
}

struct Freed {
    buffers: Vec<Words>,
    words: usize,
}

impl Freed {
    /// The smallest that is large enough and less than twice too large.
    fn take(&mut self, length: usize) -> Option<Words> {
        let fits = |buffer: &Words| (length..2 * length.max(1)).contains(&buffer.capacity());
        let candidates = self.buffers.iter().enumerate().filter(|(_, buffer)| fits(buffer));
        let (index, _) = candidates.min_by_key(|(_, buffer)| buffer.capacity())?;
        let buffer = self.buffers.swap_remove(index);
        self.words -= buffer.capacity();
        Some(buffer)
    }

    fn give(&mut self, buffer: Words) {
        let words = self.words + buffer.capacity();
        if buffer.capacity() > 0 && words <= MOST_WORDS && self.buffers.len() < MOST_BUFFERS {
            self.words = words;
            self.buffers.push(buffer);
        }
    }
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
