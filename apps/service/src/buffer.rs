//! Memory for a body.

use std::ops::Deref;

use memmap2::MmapMut;

/// Bytes from which a buffer has pages of its own: those go back to the system when it is dropped. The allocator would
/// keep the memory of large bodies, up to that of all uploads at once.
const OWN_PAGES: usize = 128 << 10;

/// Bytes of a body, in memory that is given back.
pub struct Buffer {
    memory: Memory,
    length: usize,
}

enum Memory {
    Heap(Vec<u8>),
    Pages(MmapMut),
}

impl Buffer {
    /// Returns an empty buffer without memory.
    pub(crate) fn new() -> Self {
        Self { memory: Memory::Heap(Vec::new()), length: 0 }
    }

    /// Returns the number of bytes that fit without [`Buffer::grow`].
    pub(crate) fn capacity(&self) -> usize {
        self.memory.whole().len()
    }

    /// Makes room for `capacity` bytes in all.
    pub(crate) fn grow(&mut self, capacity: usize) {
        let pages = if capacity < OWN_PAGES { None } else { MmapMut::map_anon(capacity).ok() };
        let mut memory = pages.map_or_else(|| Memory::Heap(vec![0; capacity]), Memory::Pages);
        let kept = capacity.min(self.length);
        memory.whole_mut()[..kept].copy_from_slice(&self[..kept]);
        (self.memory, self.length) = (memory, kept);
    }

    /// Adds bytes. Grows if they do not fit.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        let length = self.length.saturating_add(bytes.len());
        if length > self.capacity() {
            self.grow(length);
        }
        self.memory.whole_mut()[self.length..length].copy_from_slice(bytes);
        self.length = length;
    }
}

impl Memory {
    fn whole(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(bytes) => bytes,
        }
    }

    fn whole_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(bytes) => bytes,
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory.whole()[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_while_it_grows() {
        let (mut buffer, mut expected) = (Buffer::new(), Vec::new());
        assert!(buffer.is_empty() && buffer.capacity() == 0);
        for turn in 0..60_u8 {
            let part = vec![turn; 1 + usize::from(turn) * 257];
            if turn % 7 == 0 {
                buffer.grow(buffer.len() + 40_000);
            }
            buffer.extend(&part);
            expected.extend_from_slice(&part);
            assert!(*buffer == *expected && buffer.capacity() >= buffer.len(), "{turn}");
        }
        assert!(buffer.len() > 2 * OWN_PAGES);
        buffer.grow(3);
        assert_eq!(*buffer, [0, 1, 1]);
    }
}
