//! A modulus below 2^61 with its Barrett constants; multiplication by constants with Shoup's method.

/// A modulus q, 2 ≤ q < 2^61, with the constants to reduce modulo q without dividing.
///
/// ```
/// use sotto_kernels::{InvalidModulus, Modulus};
///
/// let q = Modulus::new(65_537)?;
/// assert_eq!(q.multiply(65_536, 65_536), 1);
/// assert_eq!(q.centre(q.from_signed(-40)), -40);
/// assert_eq!(q.invert_vartime(2), Some(32_769));
/// assert_eq!(Modulus::new(1), Err(InvalidModulus(1)));
/// # Ok::<(), InvalidModulus>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Modulus {
    value: u64,
    bits: u32,
    /// floor(2^(2·bits) / value), below 2^(bits+1).
    pub(crate) barrett: u64,
    /// floor(2^64 / value).
    barrett_word: u64,
    /// 2^64 mod value.
    word: u64,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "read by the IFMA target"))]
    pub(crate) narrow: Narrow,
}

/// Constants for products of 52 bits; zero unless 2^2 ≤ q < 2^50.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "read by the IFMA target"))]
pub(crate) struct Narrow {
    /// floor(2^(50 + bits)/q).
    pub(crate) ratio: u64,
    /// floor(2^(52 + bits)/q) − 2^52, at most 2^52 − 1.
    pub(crate) excess: u64,
    /// floor(2^52/q).
    pub(crate) unit: u64,
    /// 2^52 mod q, and floor(word·2^52/q).
    pub(crate) word: u64,
    pub(crate) word_quotient: u64,
}

impl Narrow {
    const fn new(q: u64, bits: u32) -> Self {
        if bits < 3 || bits > 50 {
            return Self { ratio: 0, excess: 0, unit: 0, word: 0, word_quotient: 0 };
        }
        let word = (1 << 52) % q;
        let excess = (1u128 << (52 + bits)) / q as u128 - (1 << 52);
        Self {
            ratio: ((1u128 << (50 + bits)) / q as u128) as u64,
            // A power of two has 2^52.
            excess: excess as u64 - (excess >> 52) as u64,
            unit: (1 << 52) / q,
            word,
            word_quotient: (((word as u128) << 52) / q as u128) as u64,
        }
    }
}

/// A value that cannot be a modulus: it is below 2, or at least 2^61.
///
/// Example: [`Modulus`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidModulus(pub u64);

impl core::fmt::Debug for Modulus {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Modulus({})", self.value)
    }
}

impl core::fmt::Display for InvalidModulus {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} cannot be a modulus: it must be at least 2 and below 2^61", self.0)
    }
}

impl core::error::Error for InvalidModulus {}

impl Modulus {
    /// Prepares `value` as a modulus. Range: 2 ≤ value < 2^61.
    ///
    /// # Errors
    /// [`InvalidModulus`] if the value is out of this range.
    pub const fn new(value: u64) -> Result<Self, InvalidModulus> {
        if value < 2 || value >> 61 != 0 {
            return Err(InvalidModulus(value));
        }
        let bits = 64 - value.leading_zeros();
        let barrett = ((1u128 << (2 * bits)) / value as u128) as u64;
        let barrett_word = ((1u128 << 64) / value as u128) as u64;
        let word = ((1u128 << 64) % value as u128) as u64;
        Ok(Self { value, bits, barrett, barrett_word, word, narrow: Narrow::new(value, bits) })
    }

    /// Returns q.
    #[inline(always)]
    pub const fn value(&self) -> u64 {
        self.value
    }

    /// Returns the bit length b: 2^(b-1) ≤ q < 2^b.
    #[inline(always)]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Subtracts q once if it can. Range: in < 2^63, out < q if in < 2q. Branch-free.
    #[inline(always)]
    pub const fn correct(&self, x: u64) -> u64 {
        let r = x.wrapping_sub(self.value);
        r.wrapping_add(self.value & (r >> 63).wrapping_neg())
    }

    /// Reduces any word to [0, q). Branch-free.
    #[inline(always)]
    pub const fn reduce(&self, x: u64) -> u64 {
        let quotient = ((x as u128 * self.barrett_word as u128) >> 64) as u64;
        // barrett_word ≥ 2^64/q − 1, so the quotient is at most 1 too small for x < 2^64.
        self.correct(x.wrapping_sub(quotient.wrapping_mul(self.value)))
    }

    /// Reduces a product. Range: in < 2^(2·bits), out < q. Branch-free.
    #[inline(always)]
    pub const fn reduce_product(&self, x: u128) -> u64 {
        let top = (x >> (self.bits - 1)) as u64; // < 2^(bits+1)
        let quotient = ((top as u128 * self.barrett as u128) >> (self.bits + 1)) as u64;
        // Barrett's estimate is at most 2 too small: the rest is below 3q < 2^63.
        let rest = (x as u64).wrapping_sub(quotient.wrapping_mul(self.value));
        self.correct(self.correct(rest))
    }

    /// Reduces any double word to [0, q). Branch-free.
    #[inline(always)]
    pub const fn reduce_wide(&self, x: u128) -> u64 {
        let high = self.reduce((x >> 64) as u64);
        let low = self.reduce(x as u64);
        self.add(self.multiply(high, self.word), low)
    }

    /// Returns a + b. Range: in < q, out < q.
    #[inline(always)]
    pub const fn add(&self, a: u64, b: u64) -> u64 {
        self.correct(a + b)
    }

    /// Returns a − b. Range: in < q, out < q.
    #[inline(always)]
    pub const fn subtract(&self, a: u64, b: u64) -> u64 {
        let r = a.wrapping_sub(b);
        r.wrapping_add(self.value & (r >> 63).wrapping_neg())
    }

    /// Returns −a. Range: in < q, out < q.
    #[inline(always)]
    pub const fn negate(&self, a: u64) -> u64 {
        self.subtract(0, a)
    }

    /// Returns a·b. Range: in < q, out < q.
    #[inline(always)]
    pub const fn multiply(&self, a: u64, b: u64) -> u64 {
        self.reduce_product(a as u128 * b as u128)
    }

    /// Returns a^exponent. The time depends on the exponent, which must be public.
    pub const fn power_vartime(&self, a: u64, mut exponent: u64) -> u64 {
        let mut base = self.reduce(a);
        let mut result = self.reduce(1);
        while exponent != 0 {
            if exponent & 1 == 1 {
                result = self.multiply(result, base);
            }
            base = self.multiply(base, base);
            exponent >>= 1;
        }
        result
    }

    /// Returns the inverse of `a` (public), or None if there is none. Uses Euclid's algorithm; works for composite
    /// moduli too.
    pub const fn invert_vartime(&self, a: u64) -> Option<u64> {
        let (mut r0, mut r1) = (self.value as i128, self.reduce(a) as i128);
        let (mut t0, mut t1) = (0i128, 1i128);
        while r1 != 0 {
            let quotient = r0 / r1;
            (r0, r1) = (r1, r0 - quotient * r1);
            (t0, t1) = (t1, t0 - quotient * t1);
        }
        if r0 != 1 {
            return None;
        }
        Some(t0.rem_euclid(self.value as i128) as u64)
    }

    /// Reduces a signed integer to [0, q). Branch-free.
    #[inline(always)]
    pub const fn from_signed(&self, x: i64) -> u64 {
        let magnitude = self.reduce(x.unsigned_abs());
        // All ones if negative. `black_box` keeps the compiler from turning the mask into a branch.
        let negative = core::hint::black_box((x >> 63) as u64);
        let negated = self.negate(magnitude);
        (negated & negative) | (magnitude & !negative)
    }

    /// Returns the representative of x in [−floor(q/2), ceil(q/2) − 1]. Range: in < q.
    #[inline(always)]
    pub const fn centre(&self, x: u64) -> i64 {
        let limit = self.value.div_ceil(2); // x ≥ limit is negative
        let negative = (limit.wrapping_sub(1).wrapping_sub(x)) >> 63; // 1 if x ≥ limit
        // `black_box` keeps the compiler from turning the mask into a branch.
        let mask = core::hint::black_box(negative.wrapping_neg());
        (x as i64).wrapping_sub((self.value & mask) as i64)
    }

    /// Prepares a constant for repeated multiplication. Range: constant < q.
    pub const fn factor(&self, constant: u64) -> Factor {
        let quotient = (((constant as u128) << 64) / self.value as u128) as u64;
        Factor { value: constant, quotient }
    }

    /// Returns x·constant (Shoup). Range: any x, out < q.
    #[inline(always)]
    pub const fn multiply_factor(&self, x: u64, factor: Factor) -> u64 {
        self.correct(self.multiply_factor_lazy(x, factor))
    }

    /// Returns x·constant (Shoup; Harvey, arXiv:1205.2926, section 3). Range: any x, out < 2q.
    #[inline(always)]
    pub const fn multiply_factor_lazy(&self, x: u64, factor: Factor) -> u64 {
        let quotient = ((x as u128 * factor.quotient as u128) >> 64) as u64;
        x.wrapping_mul(factor.value).wrapping_sub(quotient.wrapping_mul(self.value))
    }
}

/// A constant with floor(constant·2^64/q), for Shoup's multiplication.
///
/// ```
/// use sotto_kernels::{Factor, Modulus};
///
/// let q = Modulus::new(65_537)?;
/// let nine: Factor = q.factor(9);
/// // The other operand need not be reduced.
/// assert_eq!(q.multiply_factor(215, nine), 1935);
/// assert_eq!(q.multiply_factor(65_537 + 215, nine), 1935);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    /// The constant, below q.
    pub value: u64,
    /// floor(value·2^64/q).
    pub quotient: u64,
}

#[cfg(test)]
#[allow(clippy::cast_lossless)]
mod tests {
    use super::*;

    const MODULI: [u64; 9] = [2, 3, 17, 257, 1000, 65537, (1 << 35) - 31, (1 << 60) - 93, (1 << 61) - 1];

    fn samples(q: u64) -> Vec<u64> {
        let mut x = vec![0, 1, q / 2, q / 2 + 1, q - 1, q.saturating_sub(2)];
        let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ q;
        for _ in 0..50 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            x.push(state % q);
        }
        x.retain(|v| *v < q);
        x
    }

    #[test]
    fn arithmetic_agrees_with_wide_integers() {
        for q in MODULI {
            let m = Modulus::new(q).unwrap();
            for &a in &samples(q) {
                for &b in &samples(q) {
                    assert_eq!(m.add(a, b) as u128, (a as u128 + b as u128) % q as u128);
                    assert_eq!(m.subtract(a, b) as u128, (a as u128 + q as u128 - b as u128) % q as u128);
                    let product = a as u128 * b as u128;
                    assert_eq!(m.multiply(a, b) as u128, product % q as u128, "{a}*{b} mod {q}");
                    assert_eq!(m.multiply_factor(a, m.factor(b)), m.multiply(a, b));
                    let wide = product.wrapping_mul(0x1_0000_0001_0000_0001);
                    assert_eq!(m.reduce_wide(wide) as u128, wide % q as u128);
                }
            }
        }
    }

    #[test]
    fn reduction_holds_at_the_ends_of_its_range() {
        for q in MODULI {
            let m = Modulus::new(q).unwrap();
            for x in [0, 1, q - 1, q, q + 1, u64::MAX, u64::MAX - 1, 1 << 63] {
                assert_eq!(m.reduce(x), x % q);
                assert_eq!(
                    m.multiply_factor(x, m.factor(q - 1)) as u128,
                    x as u128 * (q as u128 - 1) % q as u128
                );
            }
            let top = (1u128 << (2 * m.bits())) - 1;
            for x in [0, 1, top, top - 1, (q as u128 - 1) * (q as u128 - 1)] {
                assert_eq!(m.reduce_product(x) as u128, x % q as u128, "{x} mod {q}");
            }
            assert_eq!(m.reduce_wide(u128::MAX) as u128, u128::MAX % q as u128);
        }
    }

    #[test]
    fn centring_and_signs_round_trip() {
        for q in MODULI {
            let m = Modulus::new(q).unwrap();
            for &a in &samples(q) {
                let c = m.centre(a);
                assert_eq!(m.from_signed(c), a);
                assert!(2 * c as i128 >= -(q as i128) && (2 * c as i128) < q as i128, "{a} mod {q} gave {c}");
            }
            for x in [i64::MIN, -1, 0, 1, i64::MAX] {
                assert_eq!(m.from_signed(x) as i128, (x as i128).rem_euclid(q as i128));
            }
        }
    }

    #[test]
    fn inverses() {
        let m = Modulus::new(1000).unwrap();
        assert_eq!(m.invert_vartime(7).map(|x| x * 7 % 1000), Some(1));
        assert_eq!(m.invert_vartime(10), None);
        let p = Modulus::new((1 << 61) - 1).unwrap();
        let inverse = p.invert_vartime(12345).unwrap();
        assert_eq!(p.multiply(inverse, 12345), 1);
        assert_eq!(inverse, p.power_vartime(12345, p.value() - 2));
    }

    #[test]
    fn bad_moduli_are_refused() {
        assert_eq!(Modulus::new(0), Err(InvalidModulus(0)));
        assert_eq!(Modulus::new(1), Err(InvalidModulus(1)));
        assert_eq!(Modulus::new(1 << 61), Err(InvalidModulus(1 << 61)));
    }
}
