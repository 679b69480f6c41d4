//! Public seeds and their expansion to uniform polynomials (docs/math/conventions.md, "Seeds"; ADR 0001).

use core::ops::Range;
use std::sync::Arc;

use ctr::cipher::{KeyIvInit, StreamCipher};
use sotto_kernels::Modulus;

use crate::poly::{Eval, Poly};
use crate::random::SecretRng;
use crate::ring::Ring;

/// Length of a seed: an AES-128 key and a nonce.
pub const SEED_BYTES: usize = 24;

/// A public seed. Drawn fresh for every mask: two ciphertexts with one mask reveal their difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub [u8; SEED_BYTES]);

type Stream = ctr::Ctr32BE<aes::Aes128>;

const MAIN: u8 = 0;
const REDRAWN: u8 = 1;
/// Residues expanded at once, so that the buffer stays in the first-level cache.
const CHUNK: usize = 512;

impl Seed {
    /// A fresh seed.
    pub fn random(rng: &mut impl SecretRng) -> Self {
        let mut bytes = [0; SEED_BYTES];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }

    fn stream(&self, domain: u8, kind: u8, limb: usize) -> Stream {
        let (key, nonce) = self.0.split_at(16);
        let mut block = [0; 16];
        block[..8].copy_from_slice(nonce);
        block[8] = domain;
        block[9] = kind;
        block[10..12].copy_from_slice(&(limb as u16).to_le_bytes());
        Stream::new_from_slices(key, &block).expect("16-byte key and block")
    }

    /// Fills one limb with uniform residues. `limb` is its index in the basis, `domain` 0 for a mask and the digit's index in a
    /// key-switching key. Limbs are independent of one another. Variable time: the seed is public.
    pub fn expand_limb(&self, domain: u8, limb: usize, modulus: &Modulus, out: &mut [u64]) {
        // With the width known, cutting the stream into words is a few instructions.
        let rejected = match modulus.bits().div_ceil(8) {
            1 => self.words::<1>(domain, limb, modulus, out),
            2 => self.words::<2>(domain, limb, modulus, out),
            3 => self.words::<3>(domain, limb, modulus, out),
            4 => self.words::<4>(domain, limb, modulus, out),
            5 => self.words::<5>(domain, limb, modulus, out),
            6 => self.words::<6>(domain, limb, modulus, out),
            7 => self.words::<7>(domain, limb, modulus, out),
            _ => self.words::<8>(domain, limb, modulus, out),
        };
        if rejected {
            self.redraw(domain, limb, modulus, out);
        }
    }

    /// One word of WIDTH bytes a residue; whether any is to be drawn again.
    fn words<const WIDTH: usize>(&self, domain: u8, limb: usize, modulus: &Modulus, out: &mut [u64]) -> bool {
        let mask = u64::MAX >> (64 - modulus.bits());
        let mut stream = self.stream(domain, MAIN, limb);
        let mut rejected = false;
        // Eight bytes are read whatever the width is; the mask cuts the next residue's off.
        let mut buffer = [0; 8 * CHUNK + 8];
        for chunk in out.chunks_mut(CHUNK) {
            stream.write_keystream(&mut buffer[..chunk.len() * WIDTH]);
            for (i, x) in chunk.iter_mut().enumerate() {
                let mut wide = [0; 8];
                wide.copy_from_slice(&buffer[i * WIDTH..i * WIDTH + 8]);
                *x = u64::from_le_bytes(wide) & mask;
                rejected |= *x >= modulus.value();
            }
        }
        rejected
    }

    fn redraw(&self, domain: u8, limb: usize, modulus: &Modulus, out: &mut [u64]) {
        let width = modulus.bits().div_ceil(8) as usize;
        let mask = u64::MAX >> (64 - modulus.bits());
        let mut stream = self.stream(domain, REDRAWN, limb);
        // A prime just above a power of two has half of its words drawn again: many at a time.
        let mut buffer = [0; 8 * CHUNK];
        let mut at = buffer.len();
        for x in out.iter_mut() {
            while *x >= modulus.value() {
                if at + width > CHUNK * width {
                    stream.write_keystream(&mut buffer[..CHUNK * width]);
                    at = 0;
                }
                let mut bytes = [0; 8];
                bytes[..width].copy_from_slice(&buffer[at..at + width]);
                *x = u64::from_le_bytes(bytes) & mask;
                at += width;
            }
        }
    }

    /// The uniform polynomial of this seed modulo a range of primes, in Eval form.
    pub fn expand(&self, domain: u8, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<Eval> {
        let mut out = Poly::zero(ring, limbs.clone());
        for i in limbs {
            self.expand_limb(domain, i, ring.modulus(i), out.limb_mut(i));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "minutes of AES in the interpreter; tests/small.rs expands a seed")]
    fn limbs_domains_and_seeds_are_independent_streams() {
        let q = Modulus::new((1 << 35) + 65).unwrap(); // just above a power of two: half of the words are drawn again
        let expand = |seed: u8, domain, limb| {
            let mut out = vec![0; 700];
            Seed([seed; SEED_BYTES]).expand_limb(domain, limb, &q, &mut out);
            assert!(out.iter().all(|x| *x < q.value()));
            out
        };
        let base = expand(1, 0, 0);
        assert_eq!(base, expand(1, 0, 0));
        for other in [expand(2, 0, 0), expand(1, 1, 0), expand(1, 0, 1)] {
            assert!(base.iter().zip(&other).filter(|(a, b)| a == b).count() < 3);
        }
    }
}
