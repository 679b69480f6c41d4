//! The automorphisms X → X^g.

use alloc::vec::Vec;

use sotto_kernels::Modulus;

use crate::poly::{Eval, Poly};

/// Returns the bit-reversal of each number below a power of two. Doubling the count maps the list r to 2r, followed by
/// 2r + 1.
fn bit_reversed(count: usize) -> Vec<u32> {
    let mut reversed = Vec::with_capacity(count);
    reversed.push(0);
    while reversed.len() < count {
        let half = reversed.len();
        reversed.iter_mut().for_each(|r| *r *= 2);
        reversed.extend_from_within(..);
        reversed[half..].iter_mut().for_each(|r| *r += 1);
    }
    reversed
}

/// The permutation of the entries of Eval form by X → X^g.
///
/// ```
/// use sotto_ring::{GaloisMap, Poly, Ring};
///
/// let ring = Ring::new(8, &[17])?;
/// // A rotation by 1 is X → X^3.
/// let element = GaloisMap::rotation_element(8, 1).expect("a rotation");
/// let map = GaloisMap::new(8, element).expect("an odd element");
/// let poly = Poly::from_signed(&ring, 0..1, &[5, 2]).into_eval();
/// let rotated = map.apply(&poly).into_coeff();
/// assert_eq!(rotated, Poly::from_signed(&ring, 0..1, &[5, 0, 0, 2]));
/// # Ok::<(), sotto_ring::RingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GaloisMap {
    element: usize,
    map: Vec<u32>,
}

impl GaloisMap {
    /// Prepares the map of an odd g < 2n. Returns None for another g or a degree that is not a power of two.
    pub fn new(degree: usize, element: usize) -> Option<Self> {
        if !degree.is_power_of_two() || degree < 2 || element.is_multiple_of(2) || element >= 2 * degree {
            return None;
        }
        // Entry i is the value at ψ^e, e = 2·reverse(i) + 1. It comes from the entry whose exponent is e·g modulo 2n.
        let reversed = bit_reversed(degree);
        let (g, mask) = (element as u32, degree - 1);
        let source = |r: &u32| reversed[r.wrapping_mul(g).wrapping_add(g / 2) as usize & mask];
        Some(Self { element, map: reversed.iter().map(source).collect() })
    }

    /// Returns the element g of a rotation: left by `step` in each row for step > 0, right for step < 0. Returns None
    /// unless 0 < |step| < n/2.
    pub fn rotation_element(degree: usize, step: i32) -> Option<usize> {
        let row = degree / 2;
        let distance = step.unsigned_abs() as usize;
        if distance == 0 || distance >= row {
            return None;
        }
        let power = if step > 0 { distance } else { row - distance };
        // Not step by step: untrusted input may ask for any number of rotations.
        let group = Modulus::new(2 * degree as u64).ok()?;
        Some(group.power_vartime(3, power as u64) as usize)
    }

    /// Returns the element g of the row swap (in CKKS, the conjugation).
    pub fn swap_element(degree: usize) -> usize {
        2 * degree - 1
    }

    /// Returns g.
    pub fn element(&self) -> usize {
        self.element
    }

    /// Returns the permutation: `out[i] = in[map[i]]`.
    pub fn map(&self) -> &[u32] {
        &self.map
    }

    /// Returns poly(X^g).
    pub fn apply(&self, poly: &Poly<Eval>) -> Poly<Eval> {
        let mut out = Poly::zero(poly.ring(), poly.limbs());
        self.apply_into(poly, &mut out);
        out
    }

    /// Computes out = poly(X^g) on out's limbs, which poly must hold.
    pub fn apply_into(&self, poly: &Poly<Eval>, out: &mut Poly<Eval>) {
        let ring = poly.ring();
        for i in out.limbs() {
            (ring.kernels().permute)(out.limb_mut(i), poly.limb(i), &self.map);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_move_to_the_root_that_the_automorphism_says() {
        for degree in [2usize, 8, 4096, 65_536] {
            let bits = degree.trailing_zeros();
            let exponent = |i: usize| 2 * (i.reverse_bits() >> (usize::BITS - bits)) + 1;
            for element in [1, 3, degree - 1, degree + 1, 2 * degree - 1] {
                let map = GaloisMap::new(degree, element).expect("odd");
                let found = map.map().iter().enumerate();
                for (i, source) in found {
                    assert_eq!(
                        exponent(*source as usize),
                        exponent(i) * element % (2 * degree),
                        "{degree} {element}"
                    );
                }
            }
            assert!(
                [0, 2, 2 * degree, 2 * degree + 1].map(|g| GaloisMap::new(degree, g).is_none()) == [true; 4]
            );
        }
    }
}
