//! Public seeds and their expansion to uniform polynomials (docs/math/conventions.md, "Seeds"; ADR 0001).

use alloc::sync::Arc;
use core::ops::Range;

use sotto_kernels::{Modulus, Streams, Target, Wiped};

use crate::keystream::Keystream;
use crate::poly::{Eval, Poly};
use crate::random::SecretRng;
use crate::ring::Ring;

/// Length of a seed: an AES-128 key and a nonce.
pub const SEED_BYTES: usize = 24;

/// A public seed. Draw a fresh one for every mask: two ciphertexts under one mask reveal their difference.
///
/// ```
/// use sotto_ring::{Ring, Seed};
///
/// let ring = Ring::new(8, &[17, 97])?;
/// // Device and cloud expand 24 bytes to the same mask.
/// let seed = Seed([3; 24]);
/// assert_eq!(seed.expand(0, &ring, 0..2), seed.expand(0, &ring, 0..2));
/// // Limbs are independent: the cloud may expand one alone.
/// let mut limb = [0; 8];
/// seed.expand_limb(0, 1, ring.modulus(1), &mut limb);
/// assert_eq!(limb, seed.expand(0, &ring, 0..2).limb(1));
/// # Ok::<(), sotto_ring::RingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub [u8; SEED_BYTES]);

const MAIN: u8 = 0;
const REDRAWN: u8 = 1;
/// Residues expanded at a time, so that the buffer stays in the first-level cache.
pub(crate) const CHUNK: usize = 512;
/// Residues redrawn at first: for a prime just below a power of two, hardly any word is rejected.
const FEW: usize = 32;

impl Seed {
    /// Draws a fresh seed.
    pub fn random(rng: &mut impl SecretRng) -> Self {
        let mut bytes = [0; SEED_BYTES];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// Returns the residues of one limb as a stream. `limb` is its index in the basis; `domain` is 0 for a mask, and
    /// the digit's index in a key-switching key. Limbs are independent of one another. Variable time: the seed is
    /// public.
    pub fn limb(&self, domain: u8, limb: usize, modulus: &Modulus) -> LimbStream {
        self.limb_on(&Target::best().streams, domain, limb, modulus)
    }

    fn limb_on(&self, streams: &'static Streams, domain: u8, limb: usize, modulus: &Modulus) -> LimbStream {
        let (key, nonce) = self.0.split_at(16);
        let mut aes_key = [0; 16];
        aes_key.copy_from_slice(key);
        let mut block = [0; 16];
        block[..8].copy_from_slice(nonce);
        block[8] = domain;
        block[10..12].copy_from_slice(&(limb as u16).to_le_bytes());
        block[9] = MAIN;
        let main = Keystream::new(streams, &aes_key, &block);
        block[9] = REDRAWN;
        let redrawn = Redrawn { key: aes_key, block, stream: None, words: Wiped::default(), left: 0..0 };
        LimbStream { streams, modulus: *modulus, main, redrawn }
    }

    /// Fills one limb with uniform residues: see [`Seed::limb`].
    pub fn expand_limb(&self, domain: u8, limb: usize, modulus: &Modulus, out: &mut [u64]) {
        self.limb(domain, limb, modulus).fill(out);
    }

    /// Returns the uniform polynomial of this seed modulo a range of primes, in Eval form.
    pub fn expand(&self, domain: u8, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<Eval> {
        let mut out = Poly::unfilled(ring, limbs.clone());
        for i in limbs {
            self.expand_limb(domain, i, ring.modulus(i), out.limb_mut(i));
        }
        out
    }
}

/// The uniform residues of one limb of a seed.
///
/// ```
/// use sotto_ring::{LimbStream, Modulus, Seed};
///
/// // A device with little memory takes 512 residues at a time.
/// let q = Modulus::new(12_289)?;
/// let mut whole = vec![0; 1024];
/// Seed([3; 24]).expand_limb(0, 0, &q, &mut whole);
/// let mut stream: LimbStream = Seed([3; 24]).limb(0, 0, &q);
/// for part in whole.chunks(512) {
///     let mut residues = [0; 512];
///     stream.fill(&mut residues);
///     assert_eq!(residues, part);
/// }
/// # Ok::<(), sotto_ring::InvalidModulus>(())
/// ```
pub struct LimbStream {
    streams: &'static Streams,
    modulus: Modulus,
    main: Keystream,
    redrawn: Redrawn,
}

/// The second stream, which most limbs never need, and the accepted words of it not yet used.
struct Redrawn {
    key: [u8; 16],
    block: [u8; 16],
    stream: Option<Keystream>,
    /// Public. `Wiped` is used for its memory pool only.
    words: Wiped<u64>,
    left: Range<usize>,
}

impl LimbStream {
    /// Writes the next residues. All calls but the last must take a multiple of 512.
    pub fn fill(&mut self, out: &mut [u64]) {
        for chunk in out.chunks_mut(CHUNK) {
            if draw(self.streams, &self.modulus, &mut self.main, chunk) {
                self.redraw(chunk);
            }
        }
    }

    /// Computes body −= residues·secret, without holding all residues at once.
    pub fn subtract_product(&mut self, body: &mut [u64], secret: &[u64]) {
        let mut mask = [0; CHUNK];
        for (body, secret) in body.chunks_mut(CHUNK).zip(secret.chunks(CHUNK)) {
            let mask = &mut mask[..body.len()];
            self.fill(mask);
            (self.streams.subtract_product)(&self.modulus, body, mask, secret);
        }
    }

    fn redraw(&mut self, mut values: &mut [u64]) {
        let Redrawn { key, block, stream, words, left } = &mut self.redrawn;
        let mut count = CHUNK;
        let stream = stream.get_or_insert_with(|| {
            (count, *words) = (FEW, Wiped::zeros(CHUNK));
            Keystream::new(self.streams, key, block)
        });
        loop {
            let (done, used) = (self.streams.replace)(&self.modulus, values, &words[left.clone()]);
            left.start += used;
            values = &mut values[done..];
            if values.is_empty() {
                return;
            }
            let fresh = &mut words[..count];
            draw(self.streams, &self.modulus, stream, fresh);
            *left = 0..(self.streams.accept)(&self.modulus, fresh);
            count = CHUNK;
        }
    }
}

/// Draws one word of ceil(b(q)/8) bytes for each residue. Returns true if any must be redrawn.
fn draw(streams: &Streams, modulus: &Modulus, stream: &mut Keystream, out: &mut [u64]) -> bool {
    let width = modulus.bits().div_ceil(8);
    // The kernel reads whole vectors and masks off the bytes after the last word.
    let mut buffer = [0; 8 * CHUNK + 64];
    let bytes = out.len() * width as usize;
    stream.fill(&mut buffer[..bytes]);
    (streams.residues)(modulus, &buffer[..bytes + 64], 8 * width, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns moduli just above and just below powers of two, of every width; half of the words are redrawn for the
    /// first kind.
    fn moduli() -> impl Iterator<Item = Modulus> {
        let near = |bits: u32| [(1u64 << (bits - 1)) + 3, (1 << bits) - 5, (1 << bits) / 4 * 3];
        [4, 9, 17, 30, 35, 36, 42, 43, 50, 57, 60, 61]
            .into_iter()
            .flat_map(near)
            .map(|q| Modulus::new(q).unwrap())
    }

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

    #[test]
    #[cfg_attr(miri, ignore = "minutes of AES in the interpreter")]
    fn every_target_expands_alike_and_as_the_convention_says() {
        for q in moduli() {
            for length in [4, 8, 64, 512, 700, 4096] {
                let (seed, domain, limb) = (Seed(core::array::from_fn(|i| i as u8 * 7)), 3, 258);
                let expected = by_definition(&seed, domain, limb, &q, length);
                for streams in [&Streams::SCALAR, &Target::best().streams] {
                    let mut out = vec![0; length];
                    seed.limb_on(streams, domain, usize::from(limb), &q).fill(&mut out);
                    assert_eq!(out, expected, "{} {q:?} {length}", streams.name);
                    // In pieces, and as a product that is subtracted.
                    let mut stream = seed.limb_on(streams, domain, usize::from(limb), &q);
                    out.fill(0);
                    out.chunks_mut(CHUNK).for_each(|part| stream.fill(part));
                    assert_eq!(out, expected);
                    let secret: Vec<u64> = (0..length as u64).map(|i| i * i % q.value()).collect();
                    let mut body = vec![q.value() - 1; length];
                    seed.limb_on(streams, domain, usize::from(limb), &q).subtract_product(&mut body, &secret);
                    for ((b, a), s) in body.iter().zip(&expected).zip(&secret) {
                        assert_eq!(*b, q.subtract(q.value() - 1, q.multiply(*a, *s)));
                    }
                }
            }
        }
    }

    /// Expands by the definition in docs/math/conventions.md, "Seeds".
    fn by_definition(seed: &Seed, domain: u8, limb: u16, q: &Modulus, length: usize) -> Vec<u64> {
        use aes::cipher::{BlockCipherEncrypt, KeyInit};
        let cipher = aes::Aes128::new_from_slice(&seed.0[..16]).unwrap();
        let byte = |kind: u8, index: usize| {
            let mut block = [0; 16];
            block[..8].copy_from_slice(&seed.0[16..]);
            (block[8], block[9]) = (domain, kind);
            block[10..12].copy_from_slice(&limb.to_le_bytes());
            block[12..].copy_from_slice(&(index as u32 / 16).to_be_bytes());
            let mut block = block.into();
            cipher.encrypt_block(&mut block);
            block[index % 16]
        };
        let width = q.bits().div_ceil(8) as usize;
        let word = |kind: u8, index: usize| {
            let value = (0..width).fold(0, |x, k| x | u64::from(byte(kind, index * width + k)) << (8 * k));
            value & (u64::MAX >> (64 - q.bits()))
        };
        let mut next = 0;
        let mut residue = |i: usize| {
            let mut value = word(0, i);
            while value >= q.value() {
                value = word(1, next);
                next += 1;
            }
            value
        };
        (0..length).map(&mut residue).collect()
    }
}
