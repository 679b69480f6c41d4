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

    /// The absolute value of a number below 2^500. Not by `hypot`, which branches on its arguments.
    pub fn absolute(self) -> f64 {
        self.square().sqrt()
    }

    /// The square of the absolute value.
    pub fn square(self) -> f64 {
        self.re * self.re + self.im * self.im
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
        // Coefficient j + N is the imaginary part of coefficient j.
        let mut values = Zeroizing::new(coefficients.to_vec());
        let (re, im) = values.split_at_mut(self.degree / 2);
        forward(re, im, &self.twiddles);
        let slot = |(place, conjugated): &(u32, bool)| {
            let value = Complex { re: re[*place as usize], im: im[*place as usize] };
            if *conjugated { value.conjugate() } else { value }
        };
        self.places.iter().map(slot).collect()
    }

    /// The largest absolute value among the slots: the canonical norm. Without a branch on the values; the slots are wiped.
    pub fn largest_slot(&self, coefficients: &[f64]) -> f64 {
        let slots = Zeroizing::new(self.to_slots(coefficients));
        slots.iter().map(|z| z.square()).fold(0.0, f64::max).sqrt()
    }

    /// The polynomial with n real coefficients that has these n/2 slots.
    pub fn to_coefficients(&self, slots: &[Complex]) -> Vec<f64> {
        let mut values = vec![0.0; self.degree];
        let (re, im) = values.split_at_mut(self.degree / 2);
        for ((place, conjugated), value) in self.places.iter().zip(slots) {
            let value = if *conjugated { value.conjugate() } else { *value };
            (re[*place as usize], im[*place as usize]) = (value.re, value.im);
        }
        inverse(re, im, &self.twiddles);
        let scale = 1.0 / (self.degree / 2) as f64;
        values.iter_mut().for_each(|x| *x *= scale);
        values
    }
}

/// Runs a body as it is compiled for this processor's vectors; every version computes the same numbers.
macro_rules! vectorised {
    ($(#[$doc:meta])* $name:ident($($argument:ident: $kind:ty),*) $body:block) => {
        $(#[$doc])*
        fn $name($($argument: $kind),*) {
            #[inline(always)]
            fn body($($argument: $kind),*) $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
            fn wide($($argument: $kind),*) {
                body($($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512dq") && std::arch::is_x86_feature_detected!("avx512vl") {
                // SAFETY: the processor has just been asked.
                #[allow(unsafe_code)]
                return unsafe { wide($($argument),*) };
            }
            body($($argument),*);
        }
    };
}

vectorised! {
    /// Coefficients to values, in place.
    forward(re: &mut [f64], im: &mut [f64], twiddles: &[Complex]) {
        let (mut half, mut nodes) = (re.len(), 1);
        while nodes < re.len() {
            half /= 2;
            let blocks = re.chunks_exact_mut(2 * half).zip(im.chunks_exact_mut(2 * half));
            for ((re, im), w) in blocks.zip(&twiddles[nodes..2 * nodes]) {
                let ((low_re, high_re), (low_im, high_im)) = (re.split_at_mut(half), im.split_at_mut(half));
                for (((a, b), c), d) in low_re.iter_mut().zip(low_im).zip(high_re).zip(high_im) {
                    let (re, im) = (*c * w.re - *d * w.im, *c * w.im + *d * w.re);
                    (*a, *b, *c, *d) = (*a + re, *b + im, *a - re, *b - im);
                }
            }
            nodes *= 2;
        }
    }
}

vectorised! {
    /// Values to coefficients times n/2, in place.
    inverse(re: &mut [f64], im: &mut [f64], twiddles: &[Complex]) {
        let (mut half, mut nodes) = (1, re.len() / 2);
        while nodes > 0 {
            let blocks = re.chunks_exact_mut(2 * half).zip(im.chunks_exact_mut(2 * half));
            for ((re, im), w) in blocks.zip(&twiddles[nodes..2 * nodes]) {
                let ((low_re, high_re), (low_im, high_im)) = (re.split_at_mut(half), im.split_at_mut(half));
                for (((a, b), c), d) in low_re.iter_mut().zip(low_im).zip(high_re).zip(high_im) {
                    let (re, im) = (*a - *c, *b - *d);
                    (*a, *b) = (*a + *c, *b + *d);
                    // Times the conjugate.
                    (*c, *d) = (re * w.re + im * w.im, im * w.re - re * w.im);
                }
            }
            half *= 2;
            nodes /= 2;
        }
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
