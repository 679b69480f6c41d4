//! Masks and their sums.

use alloc::vec::Vec;

use chacha20::cipher::StreamCipher;
use sotto_device::{Form, Mask, MaskKey};
use sotto_ring::{Coeff, Poly};
use sotto_rlwe::{Bfv, KeyId, ParameterId, Params};

use crate::sum::Weights;

/// Words drawn in one call.
const CHUNK: usize = 1024;
/// Spare bytes after the last word, which is read by a load of eight bytes.
const SPARE: usize = 8;

/// Derives the public key that all masks of a stream are drawn under; device, cloud and owner derive the
/// same: BLAKE3-derive_key("sotto compact mask v1", key id (16) ‖ the stream's name).
pub fn mask_key(key: KeyId, stream: &str) -> MaskKey {
    let mut hasher = blake3::Hasher::new_derive_key("sotto compact mask v1");
    hasher.update(&key.0).update(stream.as_bytes());
    MaskKey(*hasher.finalize().as_bytes())
}

/// Derives the public key that all masks of a fleet are drawn under, the same for all of its devices:
/// BLAKE3-derive_key("sotto fleet mask v1", parameter id (32) ‖ fleet id (16)).
pub fn fleet_mask_key(parameters: ParameterId, fleet: &[u8; 16]) -> MaskKey {
    let mut hasher = blake3::Hasher::new_derive_key("sotto fleet mask v1");
    hasher.update(&parameters.0).update(fleet);
    MaskKey(*hasher.finalize().as_bytes())
}

/// Derives a fleet's id: the first 16 bytes of BLAKE3-derive_key("sotto 2026 fleet id v1", the plant's tag
/// (16) ‖ length of the stream's name (1) ‖ name ‖ `common`). `common` is the part that the headers of its
/// streams share.
///
/// A device uses a stream's name once, so it takes part in each fleet once.
pub fn fleet_id(plant: &[u8; 16], stream: &str, common: &[u8]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new_derive_key("sotto 2026 fleet id v1");
    // Names have at most 64 bytes.
    hasher.update(plant).update(&[stream.len() as u8]).update(stream.as_bytes()).update(common);
    let mut id = [0; 16];
    id.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    id
}

/// The masks of one stream under one key: its own, and those of its fleet.
///
/// ```
/// use sotto_compact::{StreamMasks, fleet_mask_key, mask_key};
/// use sotto_rlwe::{KeyId, ParameterId};
///
/// let (key, parameters, fleet) = (KeyId([1; 16]), ParameterId([3; 32]), [4; 16]);
/// let masks = StreamMasks::new(key, "temperature", parameters, Some(&fleet));
/// assert_eq!(masks.mask(&[9; 12], 7), mask_key(key, "temperature").mask(&[9; 12], 7));
/// // A salt of zeros selects the mask that the fleet shares.
/// assert_eq!(masks.mask(&[0; 12], 7), fleet_mask_key(parameters, &fleet).mask(&[0; 12], 7));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StreamMasks {
    own: MaskKey,
    fleet: Option<MaskKey>,
}

impl StreamMasks {
    /// Derives the masks of a stream under a key. `fleet` is the fleet's id, if the stream belongs to one.
    pub fn new(key: KeyId, stream: &str, parameters: ParameterId, fleet: Option<&[u8; 16]>) -> Self {
        Self { own: mask_key(key, stream), fleet: fleet.map(|fleet| fleet_mask_key(parameters, fleet)) }
    }

    /// Returns the mask of a salt and a sequence number. A salt of zeros selects the fleet's mask, if there
    /// is a fleet; a device draws a salt of zeros with probability 2^-96.
    pub fn mask(&self, salt: &[u8; 12], sequence: u64) -> Mask {
        let key = self.fleet.filter(|_| *salt == [0; 12]).unwrap_or(self.own);
        key.mask(salt, sequence)
    }
}

/// A weighted sum of masks.
///
/// ```
/// use sotto_compact::{Form, MaskSum, mask_key};
/// use sotto_rlwe::KeyId;
///
/// let form = Form::new(4096, (1 << 40) - 87, 65_537, 2, 36)?;
/// let key = mask_key(KeyId([1; 16]), "temperature");
/// let mut masks = MaskSum::new(&form);
/// // The difference of two windows.
/// masks.add(&key.mask(&[9; 12], 1), 1);
/// masks.add(&key.mask(&[9; 12], 0), -1);
/// assert_eq!(masks.weights().total(), 2.0);
/// # Ok::<(), sotto_compact::FormError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MaskSum {
    form: Form,
    /// The residues of the sum modulo q.
    residues: Vec<u64>,
    weights: Weights,
    /// Buffers: a chunk of words, and their bytes followed by [`SPARE`].
    words: Vec<u64>,
    bytes: Vec<u8>,
}

impl MaskSum {
    /// Makes an empty sum.
    pub fn new(form: &Form) -> Self {
        let bytes = vec![0; CHUNK * word_bytes(form.prime()) + SPARE];
        let (residues, words) = (vec![0; form.degree()], vec![0; CHUNK]);
        Self { form: *form, residues, weights: Weights::default(), words, bytes }
    }

    /// Adds `weight` times a mask, whose residues are those of [`Mask::residues`].
    pub fn add(&mut self, mask: &Mask, weight: i64) {
        let q = self.form.prime();
        let factor = weight.rem_euclid(q as i64) as u64;
        let mut stream = mask.stream(0);
        let mut filled = 0;
        while filled < self.residues.len() {
            let sums = &mut self.residues[filled..];
            let words = &mut self.words[..sums.len().min(CHUNK)];
            draw(&mut stream, &mut self.bytes, words, q);
            let kept = keep(words, q);
            let residues = &mut words[..kept];
            if factor != 1 {
                let product = |word: u64| (u128::from(word) * u128::from(factor) % u128::from(q)) as u64;
                residues.iter_mut().for_each(|word| *word = product(*word));
            }
            for (sum, residue) in sums.iter_mut().zip(residues) {
                let total = *sum + *residue;
                *sum = total.min(total.wrapping_sub(q));
            }
            filled += kept;
        }
        self.weights = self.weights.and(weight);
    }

    /// Returns the totals of the weights added so far.
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// Returns the sum as a polynomial of these parameters, whose degree and prime must be the form's.
    pub fn polynomial(&self, params: &Params<Bfv>) -> Poly<Coeff> {
        let limbs = params.limbs(0);
        let mut poly = Poly::unfilled(params.ring(), limbs.clone());
        for limb in limbs {
            poly.limb_mut(limb).copy_from_slice(&self.residues);
        }
        poly
    }
}

/// Draws the next words of a stream, including those not below q. If `words` is shorter than a chunk, the
/// next call continues where this one ends.
fn draw(stream: &mut impl StreamCipher, bytes: &mut [u8], words: &mut [u64], q: u64) {
    let (width, low) = (word_bytes(q), u64::MAX >> q.leading_zeros());
    let drawn = &mut bytes[..words.len() * width];
    drawn.fill(0);
    stream.apply_keystream(drawn);
    for (index, word) in words.iter_mut().enumerate() {
        let mut whole = [0; 8];
        // Loads eight bytes; the upper ones belong to the next word.
        whole.copy_from_slice(&bytes[index * width..index * width + 8]);
        *word = u64::from_le_bytes(whole) & low;
    }
}

/// Moves the words below q to the front, and returns their number.
fn keep(words: &mut [u64], q: u64) -> usize {
    // If q is just below a power of two, nearly always all words are below q.
    if words.iter().all(|word| *word < q) {
        return words.len();
    }
    let mut kept = 0;
    for at in 0..words.len() {
        if words[at] < q {
            words[kept] = words[at];
            kept += 1;
        }
    }
    kept
}

/// Returns the bytes of a word of a mask modulo q.
fn word_bytes(q: u64) -> usize {
    (u64::BITS - q.leading_zeros()).div_ceil(8) as usize
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn masks_are_drawn_as_the_device_draws_them() {
        // Primes near a power of two, and primes for which half of the words are refused.
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
    fn a_fleet_has_masks_of_its_own() {
        let (key, parameters) = (KeyId([1; 16]), ParameterId([3; 32]));
        let fleet = fleet_mask_key(parameters, &[4; 16]);
        assert_ne!(fleet, fleet_mask_key(parameters, &[5; 16]));
        assert_ne!(fleet, fleet_mask_key(ParameterId([4; 32]), &[4; 16]));
        let masks = StreamMasks::new(key, "a", parameters, Some(&[4; 16]));
        // All keys of the fleet have the same mask.
        let other = StreamMasks::new(KeyId([2; 16]), "b", parameters, Some(&[4; 16]));
        assert_eq!(masks.mask(&[0; 12], 7), fleet.mask(&[0; 12], 7));
        assert_eq!(other.mask(&[0; 12], 7), fleet.mask(&[0; 12], 7));
        assert_eq!(masks.mask(&[2; 12], 7), mask_key(key, "a").mask(&[2; 12], 7));
        let alone = StreamMasks::new(key, "a", parameters, None);
        assert_eq!(alone.mask(&[0; 12], 7), mask_key(key, "a").mask(&[0; 12], 7));
    }

    #[test]
    fn plants_streams_and_forms_have_fleets_of_their_own() {
        let id = fleet_id(&[1; 16], "exact-1h", &[7]);
        for other in [
            fleet_id(&[2; 16], "exact-1h", &[7]),
            fleet_id(&[1; 16], "exact-1h.2", &[7]),
            fleet_id(&[1; 16], "exact-1h", &[8]),
            fleet_id(&[1; 16], "exact-1", &[b'h', 7]),
        ] {
            assert_ne!(id, other);
        }
    }

    #[test]
    fn streams_and_keys_have_masks_of_their_own() {
        let key = mask_key(KeyId([1; 16]), "a");
        assert_ne!(key, mask_key(KeyId([2; 16]), "a"));
        assert_ne!(key, mask_key(KeyId([1; 16]), "b"));
    }
}
