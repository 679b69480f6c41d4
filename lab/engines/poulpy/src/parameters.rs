//! Parameters of the same size as a chain of primes.
//!
//! The library has no primes: a ciphertext has k bits in limbs of `base2k` bits, and a key has one row for each digit
//! of `digit_bits` bits, with `guard_bits` below the digits; digits and guard together are log2 of the whole modulus.

use poulpy_core::layouts::{
    Dnum, GLWEAutomorphismKeyLayout, GLWELayout, GLWESwitchingKeyLayout, GLWETensorKeyLayout, Rank,
    TorusPrecision,
};
use poulpy_hal::layouts::MaxBase2k;

use crate::backend::Backend;
use crate::{Failure, Request};

/// The part of the data modulus that stays unused if that saves a limb.
const MOST_UNUSED: f64 = 0.02;
/// The library's bound on the failure of a transform's rounding: 2^-128 for a polynomial.
const FAILURE_BITS: usize = 128;

/// Sizes in bits of a ciphertext, a limb and a key's digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub degree: usize,
    pub scale_bits: usize,
    pub base2k: usize,
    pub data_bits: usize,
    pub digits: usize,
    pub digit_bits: usize,
    pub guard_bits: usize,
}

impl Parameters {
    /// Returns parameters with the request's bits of data and of the whole modulus, the widest limbs, and the fewest
    /// digits that leave a guard of a digit, which the library wants at least.
    pub fn of(request: &Request) -> Result<Self, Failure> {
        let degree = request.degree;
        if !degree.is_power_of_two() || degree < 16 {
            return Err(format!("degree {degree} is no power of two from 16 on").into());
        }
        let data = bits(&request.data, &request.data_bits);
        let whole = data + bits(&request.special, &request.special_bits);
        // A limb of a product adds up twice as many products of limbs as a ciphertext has limbs.
        let base2k = Backend::max_base2k(degree, 2 * data.div_ceil(32).max(1), FAILURE_BITS, true);
        let even = data / base2k.max(1) * base2k;
        let data_bits = if even as f64 >= data as f64 * (1.0 - MOST_UNUSED) { even } else { data };
        let guarded = |digits: usize| {
            let digit_bits = data_bits.div_ceil(digits);
            let guard_bits = whole.checked_sub(digits * digit_bits).filter(|guard| *guard >= digit_bits)?;
            let scale_bits = request.scale_bits;
            Some(Self { degree, scale_bits, base2k, data_bits, digits, digit_bits, guard_bits })
        };
        (1..=data_bits).find_map(guarded).ok_or_else(|| {
            format!("{whole} bits in all leave no room for a guard of a digit beside {data} bits of data")
                .into()
        })
    }

    /// Returns the bits of a product of two fresh ciphertexts.
    pub fn product_bits(&self) -> usize {
        self.data_bits.saturating_sub(self.scale_bits)
    }

    pub fn limbs(&self) -> usize {
        self.data_bits.div_ceil(self.base2k)
    }

    /// Returns log2 of a key's modulus, which is the whole modulus.
    pub fn whole_bits(&self) -> usize {
        self.digits * self.digit_bits + self.guard_bits
    }

    pub fn special_limbs(&self) -> usize {
        self.whole_bits().div_ceil(self.base2k) - self.limbs()
    }

    /// Returns the layout of a ciphertext of k bits.
    pub fn ciphertext(&self, k: usize) -> GLWELayout {
        GLWELayout { n: self.degree.into(), base2k: self.base2k.into(), k: k.into(), rank: Rank(1) }
    }

    pub fn product_key(&self) -> GLWETensorKeyLayout {
        GLWETensorKeyLayout {
            n: self.degree.into(),
            base2k: self.base2k.into(),
            dnum: Dnum(self.digits as u32),
            k_digit: TorusPrecision(self.digit_bits as u32),
            k_aux: TorusPrecision(self.guard_bits as u32),
            rank: Rank(1),
        }
    }

    pub fn switching_key(&self) -> GLWESwitchingKeyLayout {
        let GLWETensorKeyLayout { n, base2k, dnum, k_digit, k_aux, rank } = self.product_key();
        let (rank_in, rank_out, k_offset) = (rank, rank, TorusPrecision(0));
        GLWESwitchingKeyLayout { n, base2k, dnum, k_digit, k_aux, rank_in, rank_out, k_offset }
    }

    pub fn rotation_key(&self) -> GLWEAutomorphismKeyLayout {
        let GLWETensorKeyLayout { n, base2k, dnum, k_digit, k_aux, rank } = self.product_key();
        GLWEAutomorphismKeyLayout { n, base2k, dnum, k_digit, k_aux, rank }
    }
}

/// Returns log2 of the product of primes, else the sum of bit lengths.
fn bits(primes: &[u64], lengths: &[usize]) -> usize {
    if primes.is_empty() {
        return lengths.iter().sum();
    }
    primes.iter().map(|prime| (*prime as f64).log2()).sum::<f64>().round() as usize
}
