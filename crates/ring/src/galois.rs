//! The automorphisms X → X^g.

use sotto_kernels::Modulus;

use crate::poly::{Eval, Poly};

/// The permutation that X → X^g makes of the entries of Eval form.
#[derive(Clone, Debug)]
pub struct GaloisMap {
    element: usize,
    map: Vec<u32>,
}

impl GaloisMap {
    /// The map of an odd g < 2n; None for another g or a degree that is not a power of two.
    pub fn new(degree: usize, element: usize) -> Option<Self> {
        if !degree.is_power_of_two() || degree < 2 || element.is_multiple_of(2) || element >= 2 * degree {
            return None;
        }
        let shift = usize::BITS - degree.trailing_zeros();
        let reverse = |i: usize| i.reverse_bits() >> shift;
        let source = |i| reverse(((2 * reverse(i) + 1) * element % (2 * degree)) / 2) as u32;
        Some(Self { element, map: (0..degree).map(source).collect() })
    }

    /// g of a rotation: left by `step` in each row for step > 0, right for step < 0. None unless 0 < |step| < n/2.
    pub fn rotation_element(degree: usize, step: i32) -> Option<usize> {
        let row = degree / 2;
        let distance = step.unsigned_abs() as usize;
        if distance == 0 || distance >= row {
            return None;
        }
        let power = if step > 0 { distance } else { row - distance };
        // Not step by step: what comes from outside asks for as many rotations as it likes.
        let group = Modulus::new(2 * degree as u64).ok()?;
        Some(group.power_vartime(3, power as u64) as usize)
    }

    /// g of the row swap (the conjugation, in CKKS).
    pub fn swap_element(degree: usize) -> usize {
        2 * degree - 1
    }

    /// g.
    pub fn element(&self) -> usize {
        self.element
    }

    /// The permutation: `out[i] = in[map[i]]`.
    pub fn map(&self) -> &[u32] {
        &self.map
    }

    /// poly(X^g).
    pub fn apply(&self, poly: &Poly<Eval>) -> Poly<Eval> {
        let mut out = Poly::zero(poly.ring(), poly.limbs());
        self.apply_into(poly, &mut out);
        out
    }

    /// out = poly(X^g) on out's limbs, which poly must hold.
    pub fn apply_into(&self, poly: &Poly<Eval>, out: &mut Poly<Eval>) {
        let ring = poly.ring();
        for i in out.limbs() {
            (ring.kernels().permute)(out.limb_mut(i), poly.limb(i), &self.map);
        }
    }
}
