//! Buffers that the caller lends, so that a steady state needs no allocation.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use sotto_kernels::wipe;

use crate::poly::{Buffer, Form, Poly, stride};
use crate::ring::Ring;

/// A pool of buffers. A computation takes polynomials and rows from it and gives them back; after a few rounds of the
/// same work it allocates no more. For public data only: a returned buffer is not wiped.
///
/// ```
/// use sotto_ring::{Eval, Poly, Ring, Scratch};
///
/// let (ring, mut scratch) = (Ring::new(1024, &[12_289])?, Scratch::new());
/// for _hour in 0..24 {
///     // Only the first round allocates.
///     let sum: Poly<Eval> = scratch.zero(&ring, 0..1);
///     assert!(sum.is_zero());
///     scratch.give(sum);
/// }
/// # Ok::<(), sotto_ring::RingError>(())
/// ```
#[derive(Default)]
pub struct Scratch {
    buffers: Vec<Buffer>,
}

impl core::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Scratch {{ buffers: {} }}", self.buffers.len())
    }
}

impl Scratch {
    /// An empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the shortest buffer that is long enough; of equal ones a late one, which the processor's caches may still
    /// hold. If none is, replaces the longest by a new one: growing it would take fresh pages, while this thread's pool
    /// may have a buffer that fits.
    fn buffer(&mut self, length: usize) -> Buffer {
        let fit = |buffer: &Buffer| (buffer.len() < length, buffer.len().abs_diff(length));
        let best = self.buffers.iter().enumerate().rev().min_by_key(|(_, buffer)| fit(buffer));
        match best.map(|(i, _)| i) {
            Some(i) if self.buffers[i].capacity() >= length => self.buffers.swap_remove(i),
            longest => {
                longest.map(|i| self.buffers.swap_remove(i));
                Buffer::unfilled(length)
            }
        }
    }

    /// Returns a polynomial over these limbs with unspecified content.
    pub fn poly<F: Form>(&mut self, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<F> {
        let buffer = self.buffer(stride(ring.degree()) * limbs.len());
        Poly::in_buffer(ring, limbs, buffer)
    }

    /// Returns the zero polynomial over these limbs.
    pub fn zero<F: Form>(&mut self, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<F> {
        let mut poly = self.poly(ring, limbs);
        poly.fill_zero();
        poly
    }

    /// Returns a copy of a polynomial.
    pub fn copy<F: Form>(&mut self, poly: &Poly<F>) -> Poly<F> {
        self.restricted(poly, poly.limbs())
    }

    /// Returns a copy of some limbs of a polynomial.
    pub fn restricted<F: Form>(&mut self, poly: &Poly<F>, limbs: Range<usize>) -> Poly<F> {
        let mut copy = self.poly(poly.ring(), limbs.clone());
        for i in limbs {
            copy.limb_mut(i).copy_from_slice(poly.limb(i));
        }
        copy
    }

    /// Takes a polynomial's buffer into the pool, unwiped.
    pub fn give<F: Form>(&mut self, poly: Poly<F>) {
        self.buffers.push(poly.into_buffer());
    }

    /// Frees buffers, the earliest returned first, until at most this many words are left.
    pub fn keep_at_most(&mut self, words: usize) {
        let mut held: usize = self.buffers.iter().map(|buffer| buffer.capacity()).sum();
        let spare = self.buffers.iter().take_while(|buffer| {
            let more = held > words;
            held -= if more { buffer.capacity() } else { 0 };
            more
        });
        let spare = spare.count();
        self.buffers.drain(..spare);
    }

    /// Returns rows of this many words with unspecified content.
    pub fn rows(&mut self, count: usize, length: usize) -> Rows {
        let (stride, mut words) = (stride(length), self.buffer(stride(length) * count));
        words.lengthen(stride * count);
        Rows { words, stride, length, count }
    }

    /// Takes the buffer of rows into the pool, unwiped.
    pub fn give_rows(&mut self, mut rows: Rows) {
        self.buffers.push(core::mem::replace(&mut rows.words, Buffer::empty()));
    }
}

impl<F: Form> Poly<F> {
    /// Shrinks spare capacity to at most an eighth, so that the memory of long-lived values can be counted. A longer
    /// buffer, as pools lend them, returns to the pool.
    pub fn fitted(self, scratch: &mut Scratch) -> Self {
        if !self.is_loose() {
            return self;
        }
        let fitted = self.clone();
        scratch.give(self);
        fitted
    }
}

/// Rows of words, aligned like limbs. Wiped on drop: they may hold a secret in another form.
///
/// ```
/// use sotto_ring::Scratch;
///
/// let mut scratch = Scratch::new();
/// let mut rows = scratch.rows(2, 8);
/// rows.iter_mut().for_each(|row| row.fill(0));
/// rows.row_mut(1)[0] = 215;
/// assert_eq!((rows.row(0)[0], rows.row(1)[0]), (0, 215));
/// scratch.give_rows(rows);
/// ```
pub struct Rows {
    words: Buffer,
    stride: usize,
    length: usize,
    count: usize,
}

impl Drop for Rows {
    fn drop(&mut self) {
        wipe(&mut self.words);
    }
}

impl Rows {
    /// Returns the words of row `index`. Panics beyond the last one.
    pub fn row(&self, index: usize) -> &[u64] {
        &self.words[index * self.stride..][..self.length]
    }

    /// Returns one row, mutable.
    pub fn row_mut(&mut self, index: usize) -> &mut [u64] {
        &mut self.words[index * self.stride..][..self.length]
    }

    /// Returns all rows, first to last.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.count).map(|i| self.row(i))
    }

    /// Returns all rows, first to last, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        let length = self.length;
        self.words.chunks_mut(self.stride.max(1)).take(self.count).map(move |row| &mut row[..length])
    }

    /// Returns the rows before number `index`, and that row, mutable.
    pub fn before_mut(&mut self, index: usize) -> (impl Iterator<Item = &[u64]>, &mut [u64]) {
        let (stride, length) = (self.stride, self.length);
        let (before, row) = self.words.split_at_mut(index * stride);
        (before.chunks(stride).map(move |row| &row[..length]), &mut row[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_back_first_is_freed_first() {
        let mut scratch = Scratch::new();
        let rows: Vec<Rows> = [1000, 2000, 3000].map(|length| scratch.rows(1, length)).into_iter().collect();
        let sizes: Vec<usize> = rows.iter().map(|rows| rows.words.capacity()).collect();
        rows.into_iter().for_each(|rows| scratch.give_rows(rows));
        let held = |scratch: &Scratch| scratch.buffers.iter().map(|b| b.capacity()).collect::<Vec<_>>();
        scratch.keep_at_most(sizes.iter().sum());
        assert_eq!(held(&scratch), sizes);
        scratch.keep_at_most(sizes[1] + sizes[2]);
        assert_eq!(held(&scratch), sizes[1..]);
        scratch.keep_at_most(sizes[2] - 1);
        assert!(held(&scratch).is_empty());
    }

    #[test]
    fn what_was_freed_comes_before_a_shorter_buffer_that_grows() {
        let mut place = None;
        for _ in 0..5 {
            let mut scratch = Scratch::new();
            let short = scratch.rows(1, 1000);
            scratch.give_rows(short);
            let long = scratch.rows(1, 3000);
            let found = long.row(0).as_ptr();
            assert_eq!(*place.get_or_insert(found), found);
            assert!(scratch.buffers.is_empty());
            scratch.give_rows(long);
        }
    }
}
