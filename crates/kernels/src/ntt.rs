//! Tables of the negacyclic number-theoretic transform.

use alloc::vec::Vec;

use crate::modulus::{Factor, Modulus};

/// Twiddle factors of one prime and degree.
///
/// The forward transform is `out[i] = a(ψ^(2·brv(i)+1))`, ψ the smallest primitive 2n-th root of unity
/// (docs/math/conventions.md).
///
/// ```
/// use sotto_kernels::{Modulus, NttTable};
///
/// let table = NttTable::new(Modulus::new(17)?, 8).expect("16 divides 17 - 1");
/// // 3 is the smallest primitive 16th root of unity modulo 17.
/// assert_eq!((table.degree(), table.root()), (8, 3));
/// assert!(NttTable::new(Modulus::new(19)?, 8).is_none());
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
#[derive(Clone, Debug)]
pub struct NttTable {
    modulus: Modulus,
    degree: usize,
    root: u64,
    /// ψ^brv(i), i = 0 … n−1 (entry 0 is 1 and unused).
    pub(crate) forward: Vec<Factor>,
    /// ψ^−brv(i).
    pub(crate) inverse: Vec<Factor>,
    /// n^-1.
    pub(crate) inverse_degree: Factor,
    /// The last layers' factors in the IFMA target's format; None if that target does not run.
    #[cfg(target_arch = "x86_64")]
    pub(crate) lanes: Option<crate::ifma::LaneTwiddles>,
    /// The factors in the format of the targets in `vectors`.
    pub(crate) prepared: crate::vectors::Prepared,
}

impl NttTable {
    /// Builds the tables. Returns None unless `degree` is a power of two from 2 to 2^17, and `modulus` a prime that is
    /// 1 modulo 2·degree.
    pub fn new(modulus: Modulus, degree: usize) -> Option<Self> {
        if !degree.is_power_of_two() || !(2..=1 << 17).contains(&degree) {
            return None;
        }
        let order = 2 * degree as u64;
        if !(modulus.value() - 1).is_multiple_of(order) {
            return None;
        }
        let root = smallest_root(&modulus, order)?;
        let inverse_root = modulus.invert_vartime(root)?;
        let inverse_degree = modulus.factor(modulus.invert_vartime(degree as u64)?);
        let forward = bit_reversed_powers(&modulus, root, degree);
        let inverse = bit_reversed_powers(&modulus, inverse_root, degree);
        #[cfg(target_arch = "x86_64")]
        let lanes = crate::ifma::LaneTwiddles::new(&modulus, &forward, &inverse);
        Some(Self {
            forward,
            inverse,
            modulus,
            degree,
            root,
            inverse_degree,
            #[cfg(target_arch = "x86_64")]
            lanes,
            prepared: Default::default(),
        })
    }

    /// Builds the twiddle factors of one direction only, for the scalar kernels. Returns None as in [`NttTable::new`].
    pub(crate) fn one_way(modulus: Modulus, degree: usize, forward: bool) -> Option<Self> {
        let order = 2 * degree as u64;
        if !degree.is_power_of_two()
            || !(2..=1 << 17).contains(&degree)
            || !(modulus.value() - 1).is_multiple_of(order)
        {
            return None;
        }
        let root = smallest_root(&modulus, order)?;
        let power = if forward { root } else { modulus.invert_vartime(root)? };
        let powers = bit_reversed_powers(&modulus, power, degree);
        let (forward, inverse) = if forward { (powers, Vec::new()) } else { (Vec::new(), powers) };
        Some(Self {
            forward,
            inverse,
            modulus,
            degree,
            root,
            inverse_degree: modulus.factor(modulus.invert_vartime(degree as u64)?),
            #[cfg(target_arch = "x86_64")]
            lanes: None,
            prepared: Default::default(),
        })
    }

    /// Returns true if the IFMA target transforms this many values with this table.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn has_lanes(&self, length: usize) -> bool {
        self.lanes.is_some() && length == self.degree
    }

    /// Returns the prime.
    #[inline(always)]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// Returns the degree n.
    #[inline(always)]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Returns the constant for [`crate::Kernels::ntt_inverse_from`] that scales the inverse transform by `constant`;
    /// it includes n^-1. Range: constant < q.
    pub fn inverse_scale(&self, constant: u64) -> Factor {
        self.modulus.factor(self.modulus.multiply(constant, self.inverse_degree.value))
    }

    /// Returns ψ.
    pub fn root(&self) -> u64 {
        self.root
    }
}

fn bit_reversed_powers(modulus: &Modulus, root: u64, degree: usize) -> Vec<Factor> {
    let shift = usize::BITS - degree.trailing_zeros();
    let mut powers = vec![Factor { value: 0, quotient: 0 }; degree];
    let mut power = 1;
    for i in 0..degree {
        powers[i.reverse_bits() >> shift] = modulus.factor(power);
        power = modulus.multiply(power, root);
    }
    powers
}

/// Returns the smallest primitive root of unity whose order is this power of two, or None if there is none.
fn smallest_root(modulus: &Modulus, order: u64) -> Option<u64> {
    let q = modulus.value();
    let exponent = (q - 1) / order;
    let primitive = (2..q.min(10_000))
        .map(|candidate| modulus.power_vartime(candidate, exponent))
        .find(|root| modulus.power_vartime(*root, order / 2) == q - 1)?;
    // The others are its odd powers.
    let square = modulus.multiply(primitive, primitive);
    let mut smallest = primitive;
    let mut current = primitive;
    for _ in 1..order / 2 {
        current = modulus.multiply(current, square);
        smallest = smallest.min(current);
    }
    Some(smallest)
}

/// Returns x − limit if that is not negative, else x. Range: in < 2·limit ≤ 2^63, out < limit. Branch-free.
#[inline(always)]
pub(crate) fn subtract_if_reached(x: u64, limit: u64) -> u64 {
    let r = x.wrapping_sub(limit);
    r.wrapping_add(limit & (r >> 63).wrapping_neg())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(q: u64, degree: usize) -> Option<u64> {
        NttTable::new(Modulus::new(q).unwrap(), degree).map(|t| t.root())
    }

    #[test]
    fn smallest_roots_match_the_published_ones() {
        assert_eq!(root(17, 8), Some(3));
        assert_eq!(root(0xf_fffe_e001, 4096), Some(24_250_113));
        assert_eq!(root(0xf_fffc_4001, 4096), Some(29_008_497));
        assert_eq!(root(0x1f_fffe_0001, 4096), Some(8_625_844));
        assert_eq!(root(1_032_193, 4096), Some(194));
    }

    #[test]
    fn what_has_no_transform_is_refused() {
        assert_eq!(root(19, 8), None);
        assert_eq!(root(17, 7), None);
        assert_eq!(root(33, 16), None);
    }
}
