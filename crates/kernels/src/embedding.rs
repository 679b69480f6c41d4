//! The canonical embedding of CKKS: n/2 complex slots and back.
//!
//! A real polynomial m of degree below n is folded to N = n/2 complex coefficients c_j = m_j + i·m_{j+N}; then
//! m(ζ^e) = Σ c_j ζ^{je} for every e ≡ 1 (mod 4), because ζ^{eN} = i there. These are the roots of X^N − i, so the
//! transform is a Cooley–Tukey recursion X^L − ρ = (X^{L/2} − √ρ)(X^{L/2} + √ρ). The slot of exponent 3^k is the
//! value at 3^k or, if that is 3 modulo 4, the conjugate of the value at −3^k.

use core::ops::{Add, Mul, Sub};

use zeroize::{DefaultIsZeroes, Zeroizing};

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl DefaultIsZeroes for Complex {}

impl Complex {
    /// A real number.
    pub const fn real(re: f64) -> Self {
        Self { re, im: 0.0 }
    }

    /// The conjugate.
    pub const fn conjugate(self) -> Self {
        Self { re: self.re, im: -self.im }
    }

    /// The absolute value.
    pub fn absolute(self) -> f64 {
        self.re.hypot(self.im)
    }
}

impl Add for Complex {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { re: self.re + o.re, im: self.im + o.im }
    }
}

impl Sub for Complex {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self { re: self.re - o.re, im: self.im - o.im }
    }
}

impl Mul for Complex {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}

/// Tables of the embedding for one degree.
#[derive(Clone, Debug)]
pub struct Embedding {
    degree: usize,
    /// Twiddle √ρ of node i among m nodes at index m + i.
    twiddles: Vec<Complex>,
    /// For each slot its place in the transform's output, and whether it is conjugated.
    places: Vec<(u32, bool)>,
}

impl Embedding {
    /// Tables for degree n, a power of two from 4 to 2^17; None otherwise.
    pub fn new(degree: usize) -> Option<Self> {
        if !degree.is_power_of_two() || !(4..=1 << 17).contains(&degree) {
            return None;
        }
        let (slots, order) = (degree / 2, 2 * degree);
        let mut twiddles = vec![Complex::default(); slots];
        let mut exponents = vec![slots];
        while exponents.len() < slots {
            let nodes = exponents.len();
            for (i, e) in exponents.iter().enumerate() {
                twiddles[nodes + i] = root(e / 2, degree);
            }
            exponents = exponents.iter().flat_map(|e| [e / 2, (e / 2 + degree) % order]).collect();
        }
        let mut place_of = vec![u32::MAX; order];
        for (i, e) in exponents.iter().enumerate() {
            place_of[*e] = i as u32;
        }
        let mut places = Vec::with_capacity(slots);
        let mut exponent = 1;
        for _ in 0..slots {
            let conjugated = exponent % 4 == 3;
            places.push((place_of[if conjugated { order - exponent } else { exponent }], conjugated));
            exponent = exponent * 3 % order;
        }
        Some(Self { degree, twiddles, places })
    }

    /// n.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Evaluates a polynomial with n real coefficients at every slot; n/2 values.
    pub fn to_slots(&self, coefficients: &[f64]) -> Vec<Complex> {
        let (low, high) = coefficients.split_at(self.degree / 2);
        let folded = low.iter().zip(high).map(|(re, im)| Complex { re: *re, im: *im });
        let mut values: Zeroizing<Vec<Complex>> = Zeroizing::new(folded.collect());
        let (mut half, mut nodes) = (values.len(), 1);
        while nodes < values.len() {
            half /= 2;
            for (block, twiddle) in values.chunks_exact_mut(2 * half).zip(&self.twiddles[nodes..2 * nodes]) {
                let (low, high) = block.split_at_mut(half);
                for (x, y) in low.iter_mut().zip(high) {
                    let (a, b) = (*x, *y * *twiddle);
                    (*x, *y) = (a + b, a - b);
                }
            }
            nodes *= 2;
        }
        let slot = |(place, conjugated): &(u32, bool)| {
            let value = values[*place as usize];
            if *conjugated { value.conjugate() } else { value }
        };
        self.places.iter().map(slot).collect()
    }

    /// The polynomial with n real coefficients that has these n/2 slots.
    pub fn to_coefficients(&self, slots: &[Complex]) -> Vec<f64> {
        let mut values = Zeroizing::new(vec![Complex::default(); self.degree / 2]);
        for ((place, conjugated), value) in self.places.iter().zip(slots) {
            values[*place as usize] = if *conjugated { value.conjugate() } else { *value };
        }
        let (mut half, mut nodes) = (1, values.len() / 2);
        while nodes > 0 {
            for (block, twiddle) in values.chunks_exact_mut(2 * half).zip(&self.twiddles[nodes..2 * nodes]) {
                let (low, high) = block.split_at_mut(half);
                for (x, y) in low.iter_mut().zip(high) {
                    let (a, b) = (*x, *y);
                    (*x, *y) = (a + b, (a - b) * twiddle.conjugate());
                }
            }
            half *= 2;
            nodes /= 2;
        }
        let scale = 1.0 / values.len() as f64;
        values.iter().map(|c| c.re * scale).chain(values.iter().map(|c| c.im * scale)).collect()
    }
}

/// ζ^exponent, ζ = e^(πi/degree); exact at multiples of a quarter turn.
fn root(exponent: usize, degree: usize) -> Complex {
    let (quarter, rest) = (exponent * 2 / degree, exponent * 2 % degree);
    let (im, re) = (core::f64::consts::PI * rest as f64 / (2 * degree) as f64).sin_cos();
    match quarter % 4 {
        0 => Complex { re, im },
        1 => Complex { re: -im, im: re },
        2 => Complex { re: -re, im: -im },
        _ => Complex { re: im, im: -re },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_evaluations_at_powers_of_three() {
        for degree in [4, 8, 64] {
            let embedding = Embedding::new(degree).unwrap();
            let m: Vec<f64> = (0..degree).map(|i| ((i * 7 + 3) % 11) as f64 - 5.0).collect();
            let slots = embedding.to_slots(&m);
            let mut exponent = 1;
            for slot in &slots {
                let expected = m.iter().enumerate().fold(Complex::default(), |sum, (j, c)| {
                    sum + root(j * exponent % (2 * degree), degree) * Complex::real(*c)
                });
                assert!((expected - *slot).absolute() < 1e-12 * degree as f64);
                exponent = exponent * 3 % (2 * degree);
            }
            let back = embedding.to_coefficients(&slots);
            assert!(back.iter().zip(&m).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}
