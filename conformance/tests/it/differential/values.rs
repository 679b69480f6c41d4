//! The differences between the schemes: their values, random draws, and the distance of two values.

use chacha20::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use sotto_engine::Spoken;
use sotto_harness::protocol::Values;
use sotto_rlwe::{Bfv, Bgv, Ckks};

use crate::differential::clear::Ring;

/// Random choices from a seed.
pub(crate) struct Choices(ChaCha20Rng);

impl Choices {
    /// Returns the choices of program `number` on parameter set `set`.
    pub(crate) fn of(set: usize, number: usize) -> Self {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&(set as u64).to_le_bytes());
        seed[8..16].copy_from_slice(&(number as u64).to_le_bytes());
        Self(ChaCha20Rng::from_seed(seed))
    }

    /// Returns a number below `count`. It has a small bias, which does no harm here.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count as u64) as usize
    }

    /// Returns true once in `count` calls on average.
    pub(crate) fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    /// Returns a number in −limit … limit.
    fn integer(&mut self, limit: i64) -> i64 {
        self.below(2 * limit as usize + 1) as i64 - limit
    }

    /// Returns a number in −limit … limit, often at an end.
    fn real(&mut self, limit: f64) -> f64 {
        match self.below(16) {
            0 => limit,
            1 => -limit,
            _ => ((self.0.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * limit,
        }
    }
}

/// A scheme with comparable answers.
pub(crate) trait Comparable: Spoken {
    /// The numbers of the clear evaluator.
    type Clear: Ring<Self::Value>;
    /// Makes them for a plain modulus.
    fn clear(plain_modulus: Option<u64>) -> Self::Clear;
    /// Returns a bound for an input, and values within it.
    fn input(choices: &mut Choices, plain_modulus: Option<u64>, slots: usize) -> (f64, Values);
    /// Returns a constant with the same value in every slot.
    fn scalar(choices: &mut Choices, plain_modulus: Option<u64>) -> Values;
    /// Returns a constant with one value a slot.
    fn vector(choices: &mut Choices, plain_modulus: Option<u64>, slots: usize) -> Values;
    /// Returns the distance of two values.
    fn distance(a: Self::Value, b: Self::Value) -> f64;
}

/// Integers modulo t.
pub(crate) struct Modulo(i128);

impl Ring<i64> for Modulo {
    fn add(&self, a: i64, b: i64) -> i64 {
        (i128::from(a) + i128::from(b)).rem_euclid(self.0) as i64
    }
    fn negate(&self, a: i64) -> i64 {
        (-i128::from(a)).rem_euclid(self.0) as i64
    }
    fn multiply(&self, a: i64, b: i64) -> i64 {
        (i128::from(a) * i128::from(b)).rem_euclid(self.0) as i64
    }
    fn constant(&self, values: &Values) -> Vec<i64> {
        values.integers().unwrap().iter().map(|value| self.add(*value, 0)).collect()
    }
}

/// Numbers in f64.
pub(crate) struct Reals;

impl Ring<f64> for Reals {
    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }
    fn negate(&self, a: f64) -> f64 {
        -a
    }
    fn multiply(&self, a: f64, b: f64) -> f64 {
        a * b
    }
    fn constant(&self, values: &Values) -> Vec<f64> {
        values.reals()
    }
}

macro_rules! integers {
    ($($scheme:ty),*) => {$(
        impl Comparable for $scheme {
            type Clear = Modulo;
            fn clear(plain_modulus: Option<u64>) -> Modulo {
                Modulo(i128::from(plain_modulus.unwrap()))
            }
            fn input(choices: &mut Choices, plain_modulus: Option<u64>, slots: usize) -> (f64, Values) {
                let limit = limit(choices, plain_modulus);
                let length = length(choices, slots);
                let values = (0..length).map(|_| choices.integer(limit)).collect();
                (limit as f64, Values::Integers(values))
            }
            fn scalar(choices: &mut Choices, plain_modulus: Option<u64>) -> Values {
                let limit = limit(choices, plain_modulus);
                let value = choices.integer(limit);
                Values::Integers(vec![if value == 0 { 1 } else { value }])
            }
            fn vector(choices: &mut Choices, plain_modulus: Option<u64>, slots: usize) -> Values {
                let limit = limit(choices, plain_modulus);
                let length = length(choices, slots);
                let mut values: Vec<i64> = (0..length).map(|_| choices.integer(limit)).collect();
                values[length - 1] = 1;
                Values::Integers(values)
            }
            fn distance(a: i64, b: i64) -> f64 {
                if a == b { 0.0 } else { f64::INFINITY }
            }
        }
    )*};
}
integers!(Bfv, Bgv);

/// Returns a limit for small numbers, or for any number modulo t.
fn limit(choices: &mut Choices, plain_modulus: Option<u64>) -> i64 {
    if choices.chance(2) { 5 } else { (plain_modulus.unwrap() as i64 - 1) / 2 }
}

/// Returns a length: a few slots, or all.
fn length(choices: &mut Choices, slots: usize) -> usize {
    if choices.chance(3) { 2 + choices.below(15) } else { slots }
}

impl Comparable for Ckks {
    type Clear = Reals;
    fn clear(_: Option<u64>) -> Reals {
        Reals
    }
    fn input(choices: &mut Choices, _: Option<u64>, slots: usize) -> (f64, Values) {
        let limit = [1.0, 1.0, 0.25, 3.0][choices.below(4)];
        let length = length(choices, slots);
        (limit, Values::Reals((0..length).map(|_| choices.real(limit)).collect()))
    }
    fn scalar(choices: &mut Choices, _: Option<u64>) -> Values {
        // A whole factor takes no level, other factors take one.
        let value = if choices.chance(2) { choices.integer(4) as f64 } else { choices.real(2.0) };
        Values::Reals(vec![if value == 0.0 { 1.0 } else { value }])
    }
    fn vector(choices: &mut Choices, _: Option<u64>, slots: usize) -> Values {
        let length = length(choices, slots);
        let mut values: Vec<f64> = (0..length).map(|_| choices.real(2.0)).collect();
        values[length - 1] = 1.5;
        Values::Reals(values)
    }
    fn distance(a: f64, b: f64) -> f64 {
        (a - b).abs()
    }
}
