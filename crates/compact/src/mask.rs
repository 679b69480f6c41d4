//! Masks and their sums.

use chacha20::cipher::StreamCipher;
use sotto_device::{Form, Mask, MaskKey};
use sotto_ring::{Coeff, Poly};
use sotto_rlwe::{Bfv, KeyId, Params};

use crate::sum::Weights;

/// Words that are drawn at once.
const CHUNK: usize = 1024;

/// The key that all masks of a stream are drawn under: public, the same for device, cloud and owner. BLAKE3-derive_key("sotto compact
/// mask v1", key id (16) ‖ the stream's name).
pub fn mask_key(key: KeyId, stream: &str) -> MaskKey {
    let mut hasher = blake3::Hasher::new_derive_key("sotto compact mask v1");
    hasher.update(&key.0).update(stream.as_bytes());
    MaskKey(*hasher.finalize().as_bytes())
}

/// A weighted sum of masks.
#[derive(Clone, Debug)]
pub struct MaskSum {
    form: Form,
    /// Modulo q.
    residues: Vec<u64>,
    weights: Weights,
    /// Bytes of a chunk of words.
    bytes: Vec<u8>,
}

impl MaskSum {
    /// Of nothing.
    pub fn new(form: &Form) -> Self {
        let bytes = vec![0; CHUNK * word_bytes(form)];
        Self { form: *form, residues: vec![0; form.degree()], weights: Weights::default(), bytes }
    }

    /// Adds a mask so many times: its residues are those of [`Mask::residues`].
    pub fn add(&mut self, mask: &Mask, weight: i64) {
        let q = self.form.prime();
        let factor = weight.rem_euclid(q as i64) as u64;
        self.draw(mask, |sum, residue| {
            let added = match factor {
                1 => residue,
                _ => (u128::from(residue) * u128::from(factor) % u128::from(q)) as u64,
            };
            let total = sum + added;
            if total < q { total } else { total - q }
        });
        self.weights = self.weights.and(weight);
    }

    /// Goes through the residues of a mask in order.
    fn draw(&mut self, mask: &Mask, add: impl Fn(u64, u64) -> u64) {
        let (q, word) = (self.form.prime(), word_bytes(&self.form));
        let low = u64::MAX >> q.leading_zeros();
        let mut stream = mask.stream(0);
        let mut sums = self.residues.iter_mut();
        let mut next = sums.next();
        while next.is_some() {
            self.bytes.fill(0);
            stream.apply_keystream(&mut self.bytes);
            for bytes in self.bytes.chunks_exact(word) {
                let mut whole = [0; 8];
                whole[..word].copy_from_slice(bytes);
                let residue = u64::from_le_bytes(whole) & low;
                if residue < q {
                    let Some(sum) = next else { break };
                    *sum = add(*sum, residue);
                    next = sums.next();
                }
            }
        }
    }

    /// The weights.
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// The sum as a polynomial of these parameters, whose degree and prime are the form's.
    pub fn polynomial(&self, params: &Params<Bfv>) -> Poly<Coeff> {
        let limbs = params.limbs(0);
        let mut poly = Poly::unfilled(params.ring(), limbs.clone());
        for limb in limbs {
            poly.limb_mut(limb).copy_from_slice(&self.residues);
        }
        poly
    }
}

fn word_bytes(form: &Form) -> usize {
    (u64::BITS - form.prime().leading_zeros()).div_ceil(8) as usize
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn masks_are_drawn_as_the_device_draws_them() {
        // Near a power of two, and such that half of the words are refused.
        for q in [(1u64 << 40) - 87, (1 << 40) + 15, 97] {
            let form = Form::new(4096, q, 17, 4, 40).unwrap();
            let key = mask_key(KeyId([1; 16]), "temperature");
            let masks = [0, 1].map(|sequence| key.mask(&[2; 12], sequence));
            let mut sum = MaskSum::new(&form);
            sum.add(&masks[0], 1);
            sum.add(&masks[1], -3);
            let expected = masks[0].residues(0, q).zip(masks[1].residues(0, q)).take(4096);
            for (index, (a, b)) in expected.enumerate() {
                let value = (i128::from(a) - 3 * i128::from(b)).rem_euclid(i128::from(q)) as u64;
                assert_eq!(sum.residues[index], value, "{index} modulo {q}");
            }
        }
    }

    #[test]
    fn streams_and_keys_have_masks_of_their_own() {
        let key = mask_key(KeyId([1; 16]), "a");
        assert_ne!(key, mask_key(KeyId([2; 16]), "a"));
        assert_ne!(key, mask_key(KeyId([1; 16]), "b"));
    }
}
