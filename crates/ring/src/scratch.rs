//! Buffers that the caller lends, so that nothing is allocated in steady state.

use core::ops::Range;
use std::sync::Arc;

use crate::poly::{Buffer, Form, Poly, empty_buffer};
use crate::ring::Ring;

/// A pool of buffers. Whoever computes takes polynomials and words from it and gives them back; after a few rounds of the
/// same work no more memory is asked for. For public data only: a buffer that is given back is not wiped.
#[derive(Default)]
pub struct Scratch {
    words: Vec<Buffer>,
    signed: Vec<Vec<i64>>,
}

impl core::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Scratch {{ buffers: {} }}", self.words.len() + self.signed.len())
    }
}

impl Scratch {
    /// An empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// A polynomial over these limbs; what it holds is unspecified.
    pub fn poly<F: Form>(&mut self, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<F> {
        Poly::in_buffer(ring, limbs, self.words.pop().unwrap_or_else(empty_buffer))
    }

    /// The zero polynomial over these limbs.
    pub fn zero<F: Form>(&mut self, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<F> {
        let mut poly = self.poly(ring, limbs);
        poly.fill_zero();
        poly
    }

    /// A copy of a polynomial.
    pub fn copy<F: Form>(&mut self, poly: &Poly<F>) -> Poly<F> {
        self.restricted(poly, poly.limbs())
    }

    /// A copy of some limbs of a polynomial.
    pub fn restricted<F: Form>(&mut self, poly: &Poly<F>, limbs: Range<usize>) -> Poly<F> {
        let mut copy = self.poly(poly.ring(), limbs.clone());
        for i in limbs {
            copy.limb_mut(i).copy_from_slice(poly.limb(i));
        }
        copy
    }

    /// Takes a polynomial's buffer back.
    pub fn give<F: Form>(&mut self, poly: Poly<F>) {
        self.words.push(poly.into_buffer());
    }

    /// Words; what they hold is unspecified.
    pub(crate) fn words(&mut self, length: usize) -> Buffer {
        let mut words = self.words.pop().unwrap_or_else(empty_buffer);
        words.resize(length, 0);
        words
    }

    pub(crate) fn give_words(&mut self, words: Buffer) {
        self.words.push(words);
    }

    /// Signed words; what they hold is unspecified.
    pub(crate) fn signed(&mut self, length: usize) -> Vec<i64> {
        let mut words = self.signed.pop().unwrap_or_default();
        words.resize(length, 0);
        words
    }

    pub(crate) fn give_signed(&mut self, words: Vec<i64>) {
        self.signed.push(words);
    }
}
