//! The scales of CKKS beyond the precision of `f64`: ratios Δ_l/Δ in fixed point.
//!
//! Δ_{l-1} = Δ_l²/q_l doubles a relative error at every level, so 60 levels cost 60 bits of precision: two `f64` (106
//! bits) would leave too little. A ratio here has 192 bits after the binary point; an error of 2^-193 at each of 63
//! levels grows to less than 2^-129 at the last. Integers only, so results are the same on every machine.

use super::double_double::DoubleDouble;
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// Δ_l/Δ, between 1/2 and 2, in units of 2^-192; least significant word first.
///
/// ```
/// use sotto_rlwe::{Ckks, Params, ScaleRatio};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// assert_eq!(params.scale_ratio(params.top_level()), ScaleRatio::ONE);
/// // The scales of lower levels are within 2^±0.01 of it.
/// assert!(params.scale_ratio(0).log2().abs() <= 0.01);
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleRatio([u64; 4]);

/// A number with 384 bits after the binary point.
type Wide = [u64; 8];

impl ScaleRatio {
    /// Δ_L/Δ = 1.
    pub const ONE: Self = Self([0, 0, 0, 1]);

    /// Returns Δ_{l-1}/Δ from this Δ_l/Δ: its square times 2^scale_bits/q, or None if it leaves [1/2, 2). Range: 2^9 ≤
    /// q < 2^61, scale_bits ≤ 60.
    pub(crate) fn below(self, q: u64, scale_bits: u32) -> Option<Self> {
        let mut quotient = shift_left(self.squared(), scale_bits);
        let mut rest = 0u64;
        for word in quotient.iter_mut().rev() {
            let wide = (u128::from(rest) << 64) | u128::from(*word);
            *word = (wide / u128::from(q)) as u64;
            rest = (wide % u128::from(q)) as u64;
        }
        // Round to the nearest in 192 bits.
        let mut carry = quotient[2] >> 63;
        let mut ratio = [0; 4];
        for (out, word) in ratio.iter_mut().zip(&quotient[3..7]) {
            let (sum, over) = word.overflowing_add(carry);
            (*out, carry) = (sum, u64::from(over));
        }
        let in_range = quotient[7] == 0 && (ratio[3] == 1 || (ratio[3] == 0 && ratio[2] >> 63 == 1));
        in_range.then_some(Self(ratio))
    }

    /// Returns Δ_l²/Δ, the target of the next prime: its integer part and the 128 bits after the binary point.
    pub(crate) fn prime_target(self, scale_bits: u32) -> (u64, u128) {
        let shifted = shift_left(self.squared(), scale_bits);
        (shifted[6], (u128::from(shifted[5]) << 64) | u128::from(shifted[4]))
    }

    /// Returns the integer nearest to self·multiplier/divisor, and the remainder, |rest| ≤ 1/2, with an error of up to
    /// 2^-60. Range: multiplier < 2^61.
    pub(crate) fn quotient(self, multiplier: u64, divisor: Self) -> (u64, f64) {
        // Long division by bits: each bit of the multiplier, from the top, adds self, and the rest stays below the
        // divisor.
        let (mut whole, mut rest) = (0u64, [0u64; 4]);
        for bit in (0..64).rev() {
            rest = doubled(rest);
            whole = whole.wrapping_mul(2);
            if multiplier >> bit & 1 == 1 {
                rest = added(rest, self.0);
            }
            while !less(&rest, &divisor.0) {
                rest = subtracted(rest, divisor.0);
                whole = whole.wrapping_add(1);
            }
        }
        let fraction = Self(rest).double_double().high / divisor.double_double().high;
        if less(&doubled(rest), &divisor.0) { (whole, fraction) } else { (whole + 1, fraction - 1.0) }
    }

    /// Returns the ratio to 106 bits.
    pub fn double_double(self) -> DoubleDouble {
        // The top 53 bits of the number, then the top 53 of the remainder.
        let (mut parts, mut rest) = ([0.0; 2], self.0);
        for part in &mut parts {
            let length = bit_length(&rest);
            let shift = length.saturating_sub(53);
            let top = (0..53).rev().fold(0u64, |top, i| top << 1 | bit(&rest, shift + i));
            for i in shift..length {
                rest[i as usize / 64] &= !(1 << (i % 64));
            }
            *part = top as f64 * (f64::from(shift) - 192.0).exp2();
        }
        DoubleDouble::sum(parts[0], parts[1])
    }

    /// Returns the ratio's binary logarithm to double precision.
    pub fn log2(self) -> f64 {
        self.double_double().high.log2()
    }

    /// Returns the words, least significant first; the unit is 2^-192.
    pub fn words(self) -> [u64; 4] {
        self.0
    }

    fn squared(self) -> Wide {
        let mut product = [0; 8];
        for (i, a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, b) in self.0.iter().enumerate() {
                let wide = u128::from(*a) * u128::from(*b) + u128::from(product[i + j]) + u128::from(carry);
                product[i + j] = wide as u64;
                carry = (wide >> 64) as u64;
            }
            product[i + 4] = carry;
        }
        product
    }
}

/// Shifts left. Range: bits < 64; no set bit is shifted out.
fn shift_left(words: Wide, bits: u32) -> Wide {
    let mut carry = 0;
    words.map(|word| {
        let wide = (u128::from(word) << bits) | carry;
        carry = wide >> 64;
        wide as u64
    })
}

fn bit(words: &[u64; 4], i: u32) -> u64 {
    words[i as usize / 64] >> (i % 64) & 1
}

fn bit_length(words: &[u64; 4]) -> u32 {
    words.iter().rposition(|w| *w != 0).map_or(0, |i| 64 * i as u32 + 64 - words[i].leading_zeros())
}

fn less(a: &[u64; 4], b: &[u64; 4]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

fn doubled(a: [u64; 4]) -> [u64; 4] {
    added(a, a)
}

fn added(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut carry = 0;
    core::array::from_fn(|i| {
        let wide = u128::from(a[i]) + u128::from(b[i]) + carry;
        carry = wide >> 64;
        wide as u64
    })
}

fn subtracted(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut borrow = 0;
    core::array::from_fn(|i| {
        let (first, under) = a[i].overflowing_sub(b[i]);
        let (second, again) = first.overflowing_sub(borrow);
        borrow = u64::from(under || again);
        second
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_at_known_values() {
        let half_more = ScaleRatio([0, 0, 1 << 63, 1]);
        // 1.5² · 2^40 / (9·2^37) = 2, out of range; / (9·2^38) = 1.
        assert_eq!(half_more.below(9 << 37, 40), None);
        assert_eq!(half_more.below(9 << 38, 40), Some(ScaleRatio::ONE));
        assert_eq!(
            ScaleRatio::ONE.below(3, 1).unwrap().words(),
            [0xaaaa_aaaa_aaaa_aaab, 0xaaaa_aaaa_aaaa_aaaa, 0xaaaa_aaaa_aaaa_aaaa, 0]
        );
        assert_eq!(half_more.prime_target(60), (9 << 58, 0));
        assert_eq!(ScaleRatio::ONE.quotient(1000, half_more), (667, 2.0 / 3.0 - 1.0));
        assert_eq!(half_more.quotient((1 << 61) - 1, ScaleRatio::ONE), (((1 << 61) - 1) / 2 * 3 + 2, -0.5));
        assert_eq!(half_more.double_double(), DoubleDouble { high: 1.5, low: 0.0 });
        let thirds = ScaleRatio::ONE.below(3, 1).unwrap().double_double();
        assert_eq!(thirds.high, 2.0 / 3.0);
        assert!((thirds.low - 3.700743415417188e-17).abs() < 1e-32, "{}", thirds.low);
    }
}
