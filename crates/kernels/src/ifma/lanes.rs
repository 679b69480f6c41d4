//! Loads, stores and arithmetic on eight 64-bit lanes. Products use the low 52 bits of each.
//!
//! The only unsafe lines of this target are the loads and stores here, on references to whole vectors, and the entry of
//! each kernel (`mod.rs`), behind a check of the processor.

use core::arch::x86_64::*;

use crate::modulus::{Factor, Modulus, Narrow};

/// Bit lengths of this target's primes; [`Barrett`] needs at least 3 for its shifts.
pub(crate) const BITS: core::ops::RangeInclusive<u32> = 3..=50;

/// The bits that count of an unreduced word.
pub(crate) const LOW: u64 = (1 << 52) - 1;

/// Returns true if this processor has the instructions.
pub(crate) fn detected() -> bool {
    has_feature!("avx512f") && has_feature!("avx512dq") && has_feature!("avx512ifma")
}

/// One vector in memory.
pub(crate) type Line = [u64; 8];

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load(line: &Line) -> __m512i {
    // SAFETY: a reference to 64 readable bytes; the load takes any alignment.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_signed(line: &[i64; 8]) -> __m512i {
    // SAFETY: as above.
    unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(crate) fn load_indices(line: &[u32; 8]) -> __m512i {
    // SAFETY: a reference to 32 readable bytes; the load takes any alignment.
    _mm512_cvtepu32_epi64(unsafe { _mm256_loadu_si256(line.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store(line: &mut Line, vector: __m512i) {
    // SAFETY: a reference to 64 writable bytes; the store takes any alignment.
    unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_signed(line: &mut [i64; 8], vector: __m512i) {
    // SAFETY: as above.
    unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), vector) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn all(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}

/// The prime in every lane. Range: q < 2^50.
#[derive(Clone, Copy)]
pub(crate) struct Prime {
    pub(crate) q: __m512i,
    pub(crate) two_q: __m512i,
    /// 2^52 − q: a product with it is a product with −q modulo 2^52.
    minus_q: __m512i,
    low_52: __m512i,
    /// floor(2^52/q): the quotient of the constant 1.
    ratio: __m512i,
}

/// A constant in every lane, or a different one in each: value and floor(value·2^52/q).
#[derive(Clone, Copy)]
pub(crate) struct Constant {
    value: __m512i,
    quotient: __m512i,
}

/// A constant in the format of this target: value and floor(value·2^52/q).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Pair {
    pub(crate) value: u64,
    pub(crate) quotient: u64,
}

impl From<Factor> for Pair {
    fn from(factor: Factor) -> Self {
        Self { value: factor.value, quotient: factor.quotient >> 12 }
    }
}

impl Constant {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn all(pair: Pair) -> Self {
        Self { value: all(pair.value), quotient: all(pair.quotient) }
    }
}

impl Prime {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn new(modulus: &Modulus) -> Self {
        let q = modulus.value();
        Self {
            q: all(q),
            two_q: all(2 * q),
            minus_q: all((1 << 52) - q),
            low_52: all((1 << 52) - 1),
            ratio: all(modulus.narrow.unit),
        }
    }

    /// Returns x − limit if that is not negative, else x. Range: in < 2·limit.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn below(self, x: __m512i, limit: __m512i) -> __m512i {
        _mm512_min_epu64(x, _mm512_sub_epi64(x, limit))
    }

    /// Subtracts q once if possible. Range: in < 2q, out < q.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn correct(self, x: __m512i) -> __m512i {
        self.below(x, self.q)
    }

    /// Returns the constants with these quotients. Range: constants > 0. Proof: docs/math/kernels.md#constants.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn constants(self, quotients: &Line) -> Constant {
        let quotient = load(quotients);
        Constant { value: _mm512_madd52hi_epu64(all(1), quotient, self.q), quotient }
    }

    /// Returns x·constant modulo q (Shoup with 2^52). Range: x < 2^52, out < 2q. Proof: docs/math/kernels.md#constants.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn multiply_constant(self, x: __m512i, by: Constant) -> __m512i {
        _mm512_and_si512(self.multiply_constant_open(x, by), self.low_52)
    }

    /// Like [`Self::multiply_constant`], but leaves the upper twelve bits undefined. Reads only the low 52 bits of x.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn multiply_constant_open(self, x: __m512i, by: Constant) -> __m512i {
        self.add_constant_product(_mm512_setzero_si512(), x, by)
    }

    /// Returns sum + x·constant modulo 2^52, the product in [0, 2q) as above.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add_constant_product(self, sum: __m512i, x: __m512i, by: Constant) -> __m512i {
        let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), x, by.quotient);
        let sum = _mm512_madd52lo_epu64(sum, x, by.value);
        _mm512_madd52lo_epu64(sum, quotient, self.minus_q)
    }

    /// Returns x·a + y·b modulo q from the low 52 bits of x and y. Range: out < 2q. Proof:
    /// docs/math/kernels.md#sums-of-products.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn multiply_constants(self, x: __m512i, a: Constant, y: __m512i, b: Constant) -> __m512i {
        let zero = _mm512_setzero_si512();
        let quotient = _mm512_madd52hi_epu64(_mm512_madd52hi_epu64(zero, x, a.quotient), y, b.quotient);
        let product = _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(zero, x, a.value), y, b.value);
        self.below(self.mask(_mm512_madd52lo_epu64(product, quotient, self.minus_q)), self.two_q)
    }

    /// Reduces the low 52 bits modulo q (a multiplication by the constant 1). Range: out < 2q, modulo 2^52.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn reduce_low(self, x: __m512i) -> __m512i {
        let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), x, self.ratio);
        _mm512_madd52lo_epu64(x, quotient, self.minus_q)
    }

    /// Like [`Self::reduce_low`], but clears the bits above 52. Range: out < 2q.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn reduce_open(self, x: __m512i) -> __m512i {
        self.mask(self.reduce_low(x))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn mask(self, x: __m512i) -> __m512i {
        _mm512_and_si512(x, self.low_52)
    }
}

/// Barrett's constants for products of two residues. Range: q < 2^50.
#[derive(Clone, Copy)]
pub(crate) struct Barrett {
    prime: Prime,
    /// floor(2^(52 + b)/q) − 2^52, b the bits of q, and 52 − b in every lane.
    excess: __m512i,
    up: __m512i,
    /// floor(2^(50 + b)/q): below 2^51 + 1.
    ratio: __m512i,
    /// 52 − (b − 2) and b − 2.
    left: __m128i,
    right: __m128i,
}

impl Barrett {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn new(modulus: &Modulus) -> Self {
        // The scalar target handles moduli of one bit.
        let shift = modulus.bits() - 2;
        Self {
            prime: Prime::new(modulus),
            excess: all(modulus.narrow.excess),
            up: all(u64::from(52 - modulus.bits())),
            ratio: all(modulus.narrow.ratio),
            left: _mm_set_epi64x(0, i64::from(52 - shift)),
            right: _mm_set_epi64x(0, i64::from(shift)),
        }
    }

    /// Returns a·b modulo q. Range: a, b < q, out < q. Proof: docs/math/kernels.md#products.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn multiply(self, a: __m512i, b: __m512i) -> __m512i {
        let (p, zero) = (self.prime, _mm512_setzero_si512());
        let top = _mm512_madd52hi_epu64(zero, _mm512_sllv_epi64(a, self.up), b);
        let low = _mm512_madd52lo_epu64(zero, a, b);
        let quotient = _mm512_madd52hi_epu64(top, top, self.excess);
        let rest = p.mask(_mm512_madd52lo_epu64(low, quotient, p.minus_q));
        p.correct(p.below(rest, p.two_q))
    }

    /// Returns high·2^52 + low modulo q. Range: low < 2^52, the whole below 2^(50 + b); out < q.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn reduce(self, high: __m512i, low: __m512i) -> __m512i {
        let p = self.prime;
        let top = _mm512_or_si512(_mm512_sll_epi64(high, self.left), _mm512_srl_epi64(low, self.right));
        let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), top, self.ratio);
        let rest = p.mask(_mm512_madd52lo_epu64(low, quotient, p.minus_q));
        p.correct(p.below(rest, p.two_q))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn prime(self) -> Prime {
        self.prime
    }
}

/// Constants to reduce high·2^52 + low if `high` may take 52 bits.
#[derive(Clone, Copy)]
pub(crate) struct Reduction {
    prime: Prime,
    /// 2^52 mod q.
    word: Constant,
}

impl Reduction {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn new(modulus: &Modulus) -> Self {
        let Narrow { word, word_quotient, .. } = modulus.narrow;
        let word = Pair { value: word, quotient: word_quotient };
        Self { prime: Prime::new(modulus), word: Constant::all(word) }
    }

    /// Returns high·2^52 + low modulo q. Range: low any word, high + low/2^52 < 2^52; out < q. Proof:
    /// docs/math/kernels.md#sums-of-products.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn reduce(self, high: __m512i, low: __m512i) -> __m512i {
        let p = self.prime;
        let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
        let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), high, self.word.quotient);
        let quotient = _mm512_madd52hi_epu64(quotient, low, p.ratio);
        let sum = _mm512_madd52lo_epu64(low, high, self.word.value);
        p.correct(p.below(p.mask(_mm512_madd52lo_epu64(sum, quotient, p.minus_q)), p.two_q))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn prime(self) -> Prime {
        self.prime
    }
}
