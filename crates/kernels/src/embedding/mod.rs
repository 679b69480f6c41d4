//! The canonical embedding of CKKS: n/2 complex slots and back.
//!
//! A real polynomial m of degree below n is folded to N = n/2 complex coefficients c_j = m_j + i·m_{j+N}; then
//! m(ζ^e) = Σ c_j ζ^{je} for every e ≡ 1 (mod 4), because ζ^{eN} = i there. These are the roots of X^N − i, so the
//! transform is a Cooley–Tukey recursion X^L − ρ = (X^{L/2} − √ρ)(X^{L/2} + √ρ). The slot of exponent 3^k is the
//! value at 3^k or, if that is 3 modulo 4, the conjugate of the value at −3^k.

mod passes;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod wide;
mod width;

#[cfg(target_arch = "x86_64")]
pub use width::Detected;
pub use width::Width;

use alloc::vec::Vec;
use core::ops::{Add, Mul, Sub};

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use zeroize::DefaultIsZeroes;

use crate::targets::Target;
use crate::wiped::Wiped;

/// A complex number.
///
/// ```
/// use sotto_kernels::Complex;
///
/// let i = Complex { re: 0.0, im: 1.0 };
/// assert_eq!(i * i, Complex::real(-1.0));
/// assert_eq!(Complex { re: 3.0, im: 4.0 }.absolute(), 5.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl DefaultIsZeroes for Complex {}

impl Complex {
    /// Returns the complex number with this real part and imaginary part 0.
    pub const fn real(re: f64) -> Self {
        Self { re, im: 0.0 }
    }

    /// Returns the absolute value. Range: below 2^500. Does not use `hypot`, which branches on its arguments.
    pub fn absolute(self) -> f64 {
        self.square().sqrt()
    }

    /// Returns the square of the absolute value.
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
///
/// ```
/// use sotto_kernels::{Complex, Embedding};
///
/// // Four slots at n = 8.
/// let embedding = Embedding::new(8).expect("a power of two");
/// let readings = [21.5, 19.8, 18.7, 20.3].map(Complex::real);
/// let coefficients = embedding.to_coefficients(&readings);
/// let slots = embedding.to_slots(&coefficients);
/// assert!(slots.iter().zip(&readings).all(|(found, given)| (*found - *given).absolute() < 1e-9));
/// ```
#[derive(Clone)]
pub struct Embedding {
    degree: usize,
    /// Twiddle √ρ of node i among m nodes at index m + i.
    twiddles: Vec<Complex>,
    /// For each slot, its index in the transform's output.
    places: Vec<u32>,
    signs: Vec<f64>,
    /// For each index in the transform's output, its slot.
    slots: Vec<u32>,
    width: Width,
    #[cfg(target_arch = "x86_64")]
    lanes: Option<Vec<wide::LaneTwiddles>>,
}

impl core::fmt::Debug for Embedding {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Embedding {{ degree: {} }}", self.degree)
    }
}

impl Embedding {
    /// Returns tables for degree n, or None unless n is a power of two from 4 to 2^17. The transform runs in eight
    /// lanes where the processor has them; the environment variable `SOTTO_KERNELS` can force fewer, as for
    /// [`crate::Kernels`].
    pub fn new(degree: usize) -> Option<Self> {
        Self::on(degree, Target::best().embedding)
    }

    /// Returns tables for loops of a width, or None as in [`Embedding::new`].
    pub fn on(degree: usize, width: Width) -> Option<Self> {
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
        let (mut places, mut signs) = (Vec::with_capacity(slots), Vec::with_capacity(slots));
        let mut exponent = 1;
        for _ in 0..slots {
            let conjugated = exponent % 4 == 3;
            places.push(place_of[if conjugated { order - exponent } else { exponent }]);
            signs.push(if conjugated { -1.0 } else { 1.0 });
            exponent = exponent * 3 % order;
        }
        #[cfg(target_arch = "x86_64")]
        let lanes = (matches!(width, Width::Eight(_)) && slots >= wide::GROUP).then(|| {
            places.iter_mut().for_each(|place| *place = wide::transposed(*place));
            wide::lane_twiddles(&twiddles)
        });
        let mut slot_of = vec![0; slots];
        for (slot, place) in places.iter().enumerate() {
            slot_of[*place as usize] = slot as u32;
        }
        Some(Self {
            degree,
            twiddles,
            places,
            signs,
            slots: slot_of,
            width,
            #[cfg(target_arch = "x86_64")]
            lanes,
        })
    }

    /// Returns the degree n.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Transforms coefficients to values in the transform's output order, in place.
    fn forward(&self, values: &mut [f64]) {
        let (re, im) = values.split_at_mut(self.degree / 2);
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = &self.lanes {
            // SAFETY: `lanes` exists only if the processor has the instructions (`Width::Eight`).
            #[allow(unsafe_code)]
            return unsafe { wide::forward(re, im, &self.twiddles, lanes) };
        }
        passes::forward(self.width, re, im, &self.twiddles);
    }

    /// Transforms values in the transform's output order to coefficients times n/2, in place.
    fn inverse(&self, values: &mut [f64]) {
        let (re, im) = values.split_at_mut(self.degree / 2);
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = &self.lanes {
            // SAFETY: as above.
            #[allow(unsafe_code)]
            return unsafe { wide::inverse(re, im, &self.twiddles, lanes) };
        }
        passes::inverse(self.width, re, im, &self.twiddles);
    }

    /// Evaluates a polynomial with n real coefficients at every slot. Returns n/2 values.
    pub fn to_slots(&self, coefficients: &[f64]) -> Vec<Complex> {
        // Coefficient j + N is the imaginary part of coefficient j.
        let mut values = Wiped::copy(coefficients);
        self.forward(&mut values);
        let (re, im) = values.split_at(self.degree / 2);
        let slot =
            |(place, sign): (&u32, &f64)| Complex { re: re[*place as usize], im: im[*place as usize] * sign };
        self.places.iter().zip(&self.signs).map(slot).collect()
    }

    /// Returns the real parts of the slots, divided by `scale`, of a polynomial with integer coefficients. Missing
    /// coefficients count as zero.
    pub fn to_real_slots(&self, coefficients: &[i64], scale: f64) -> Vec<f64> {
        let mut values = Wiped::zeros(self.degree);
        passes::to_reals(self.width, coefficients, &mut values);
        self.forward(&mut values);
        let mut slots = vec![0.0; self.degree / 2];
        passes::gather(self.width, &mut slots, &values[..self.degree / 2], &self.places);
        passes::divide(self.width, &mut slots, scale);
        slots
    }

    /// Returns the largest absolute value among the slots: the canonical norm. Does not branch on the values and wipes
    /// its buffers.
    pub fn largest_slot(&self, coefficients: &[f64]) -> f64 {
        let mut values = Wiped::copy(coefficients);
        self.largest_slot_of(&mut values)
    }

    /// Like [`Embedding::largest_slot`], but overwrites the coefficients.
    pub fn largest_slot_of(&self, coefficients: &mut [f64]) -> f64 {
        self.forward(coefficients);
        let (re, im) = coefficients.split_at(self.degree / 2);
        let mut largest = 0.0;
        passes::largest_square(self.width, re, im, &mut largest);
        largest.sqrt()
    }

    /// Returns the polynomial with n real coefficients that has these n/2 slots.
    pub fn to_coefficients(&self, slots: &[Complex]) -> Wiped<f64> {
        let mut values = Wiped::zeros(self.degree);
        let (re, im) = values.split_at_mut(self.degree / 2);
        for ((place, sign), value) in self.places.iter().zip(&self.signs).zip(slots) {
            (re[*place as usize], im[*place as usize]) = (value.re, value.im * sign);
        }
        self.finish(values)
    }

    /// Returns the polynomial with n real coefficients whose slots are these real numbers times `scale`. Range: at most
    /// n/2 numbers; missing ones count as zero.
    pub fn real_to_coefficients(&self, slots: &[f64], scale: f64) -> Wiped<f64> {
        let mut scaled = Wiped::zeros(self.degree / 2);
        scaled[..slots.len()].copy_from_slice(slots);
        passes::multiply(self.width, &mut scaled, scale);
        let mut values = Wiped::zeros(self.degree);
        passes::gather(self.width, &mut values[..self.degree / 2], &scaled, &self.slots);
        self.finish(values)
    }

    fn finish(&self, mut values: Wiped<f64>) -> Wiped<f64> {
        self.inverse(&mut values);
        passes::multiply(self.width, &mut values, 1.0 / (self.degree / 2) as f64);
        values
    }
}

/// Rounds each number to the nearest integer, halves away from zero like `f64::round`, and leaves the remainder in
/// `numbers`. Range: below 2^63 in magnitude. Does not branch on the values.
pub fn round_off(numbers: &mut [f64], integers: &mut [i64]) {
    passes::round_off(Target::best().embedding, numbers, integers);
}

/// Returns true if every number is finite and at most `limit` in magnitude. Does not branch on the values.
pub fn all_within(numbers: &[f64], limit: f64) -> bool {
    let mut outside = false;
    passes::any_outside(Target::best().embedding, numbers, limit, &mut outside);
    !outside
}

/// Returns the largest magnitude, or 0 if there are no numbers.
pub fn largest(numbers: &[f64]) -> f64 {
    let mut largest = 0.0;
    passes::largest(Target::best().embedding, numbers, &mut largest);
    largest
}

/// Returns ζ^exponent, ζ = e^(πi/degree); exact at multiples of a quarter turn.
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
    fn rounding_off_is_that_of_the_standard_library() {
        let mut state = 1u64;
        let mut numbers =
            vec![0.0, 0.5, 1.5, 2.5, 0.499_999_999_999_999_94, 4_503_599_627_370_495.5, 9e15, 4.6e18];
        for exponent in 0..62 {
            for _ in 0..200 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let x = f64::from_bits(0x3ff0_0000_0000_0000 | (state >> 12)) * f64::from(exponent).exp2();
                numbers.extend([x, x.floor() + 0.5, x.next_up(), x.next_down()]);
            }
        }
        numbers.extend(numbers.clone().iter().map(|x| -x));
        let (mut rests, mut integers) = (numbers.clone(), vec![0; numbers.len()]);
        round_off(&mut rests, &mut integers);
        for ((x, integer), rest) in numbers.iter().zip(&integers).zip(&rests) {
            assert_eq!((*integer, *rest), (x.round() as i64, x - x.round()), "{x:e}");
        }
    }

    #[test]
    fn what_is_outside_is_seen_wherever_it_is() {
        for place in 0..40 {
            for (x, within) in [(2.0, true), (-2.0, true), (2.5, false), (-2.5, false), (f64::NAN, false)] {
                let mut numbers = vec![1.0; 40];
                numbers[place] = x;
                assert_eq!(all_within(&numbers, 2.0), within, "{x} at {place}");
                if !x.is_nan() {
                    assert_eq!(largest(&numbers), x.abs());
                }
            }
        }
        assert!(!all_within(&[f64::INFINITY], f64::MAX) && !all_within(&[f64::NEG_INFINITY], f64::MAX));
    }

    #[test]
    fn every_target_computes_the_same_numbers() {
        // Miri has the scalar target only and takes minutes for a long transform.
        let longest = if cfg!(miri) { 6 } else { 17 };
        for log in 2..=longest {
            let degree = 1 << log;
            let (fast, scalar) =
                (Embedding::new(degree).unwrap(), Embedding::on(degree, Width::Baseline).unwrap());
            let m: Vec<f64> =
                (0..degree as u64).map(|i| ((i * i * 7 + 3) % 1009) as f64 * 1e9 - 5e11).collect();
            let slots = scalar.to_slots(&m);
            assert_eq!(fast.to_slots(&m), slots, "{degree}");
            assert_eq!(*fast.to_coefficients(&slots), *scalar.to_coefficients(&slots), "{degree}");
            assert_eq!(fast.largest_slot(&m), scalar.largest_slot(&m));
            let integers: Vec<i64> = m.iter().map(|x| *x as i64).collect();
            let real = fast.to_real_slots(&integers, 3.0);
            assert_eq!(real, scalar.to_real_slots(&integers, 3.0));
            assert!(real.iter().zip(&slots).all(|(a, b)| *a == b.re / 3.0));
            let some = &real[..degree / 2 - 1];
            let coefficients = fast.real_to_coefficients(some, 5.0);
            assert_eq!(*coefficients, *scalar.real_to_coefficients(some, 5.0));
            let complex: Vec<Complex> = some.iter().map(|x| Complex::real(x * 5.0)).collect();
            assert_eq!(*coefficients, *scalar.to_coefficients(&complex));
        }
    }

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
