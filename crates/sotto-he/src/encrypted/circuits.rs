//! Powers, polynomials, means and variances.

use sotto_circuits::{CircuitError, Machine, Polynomial, exponentiate};
use sotto_rlwe::Ckks;

use super::crossed::Kind;
use super::offset::Offset;
use super::work::{Operands, Operation, Outcome, check, run};
use super::{Encrypted, Facts};
use crate::error::Result;
use crate::scheme::{Arithmetic, Real};

struct Power(u64);

impl<S: Arithmetic> Operation<S> for Power {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        operands[0].iter().map(|part| exponentiate(machine, part, self.0)).collect()
    }
}

struct Evaluated<V>(Polynomial<V>);

impl<S: Arithmetic> Operation<S> for Evaluated<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        operands[0].iter().map(|part| self.0.evaluate(machine, part)).collect()
    }
}

impl<S: Arithmetic> Encrypted<S> {
    /// Returns a²: one level, one relinearisation.
    ///
    /// # Errors
    /// [`Error::NoKeys`](crate::Error::NoKeys), [`Error::Depth`](crate::Error::Depth).
    pub fn square(&self) -> Result<Self> {
        self.product(self)
    }

    /// Returns a^`exponent` for `exponent` ≥ 1: ⌈log2 `exponent`⌉ levels.
    ///
    /// # Errors
    /// [`Error::Circuit`](crate::Error::Circuit) for 0; otherwise as [`Encrypted::square`].
    pub fn pow(&self, exponent: u32) -> Result<Self> {
        let facts = &self.facts;
        if exponent == 0 {
            return Err(CircuitError::Constant.into());
        }
        if facts.is_public() {
            return self.public(facts.len, facts.offset.power(exponent));
        }
        if facts.offset.is_none() {
            return self.slots_power(exponent);
        }
        if exponent == 1 {
            return Ok(self.clone());
        }
        let in_slots = |a: &Self, _: &Self| a.with_offset_in_slots()?.slots_power(exponent);
        self.best(self, &[&in_slots, &|a, _| a.products(exponent)])
    }

    fn slots_power(&self, exponent: u32) -> Result<Self> {
        let facts = &self.facts;
        let (power, encrypted) = (exponent as i32, facts.encrypted.powf(f64::from(exponent)));
        let work = Power(u64::from(exponent));
        let slots = facts.slots_within();
        let too_large = || check(&[self], &work).is_err_and(|error| error.is_room());
        if !S::EXACT
            && slots > 1.0
            && too_large()
            && let Ok(power) = self.shrunk(slots).and_then(|shrunk| shrunk.slots_power(exponent))
        {
            return Ok(power);
        }
        let body = run(&[self], &work)?;
        let facts = Facts { unit: facts.unit.powi(power), ..facts.clone() }.within_slots(encrypted)?;
        Ok(Self::new(&self.context, facts, body))
    }

    /// A power of at least 1, by one product after another.
    fn products(&self, exponent: u32) -> Result<Self> {
        if exponent == 1 {
            return Ok(self.clone());
        }
        let half = self.products(exponent / 2)?;
        let even = half.square()?;
        if exponent.is_multiple_of(2) { Ok(even) } else { even.product(self) }
    }

    /// Returns c₀ + c₁·a + c₂·a² + …, slot by slot: ⌈log2(degree + 1)⌉ levels, about 2·√(2·degree) products (Paterson and
    /// Stockmeyer 1973).
    ///
    /// # Errors
    /// [`Error::Circuit`](crate::Error::Circuit) for a constant polynomial; otherwise as [`Encrypted::square`].
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let context = Context::<Ckks>::builder().values_within(2.0).depth(3).build()?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[0.5, -1.0])?;
    /// let y = secret.decrypt(&x.polynomial(&[1.0, 0.0, -2.0, 4.0])?)?;
    /// assert!((y.values()[0] - 1.0).abs() <= y.bound() && (y.values()[1] + 5.0).abs() <= y.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn polynomial(&self, coefficients: &[S::Value]) -> Result<Self> {
        if self.facts.is_public() {
            return self.public_polynomial(coefficients);
        }
        let vector = self.with_offset_in_slots()?;
        let facts = &vector.facts;
        let real: Vec<f64> = coefficients.iter().map(|c| Into::<Real>::into(*c).0).collect();
        let sizes = real.iter().enumerate().skip(1).map(|(i, c)| c.abs() * facts.encrypted.powi(i as i32));
        let magnitude: f64 = sizes.sum();
        let (unit, slots) = if S::EXACT {
            let mut whole = coefficients.to_vec();
            whole.iter_mut().take(1).for_each(|constant| *constant = S::Value::default());
            (1.0, whole)
        } else {
            // Slots within ±1, so that no intermediate value outgrows the primes.
            let unit = if magnitude > 0.0 { magnitude } else { 1.0 };
            let slot = |(i, c): (usize, &f64)| match i {
                0 => 0.0,
                _ => c * facts.unit.powi(i as i32) / unit,
            };
            (unit, real.iter().enumerate().map(slot).map(S::number).collect())
        };
        let body = run(&[&vector], &Evaluated(Polynomial::new(slots)))?;
        let facts = Facts { unit, ..facts.clone() }.within_slots(magnitude)?;
        let powers = Self::new(&self.context, facts, body);
        match coefficients.first() {
            Some(constant) if *constant != S::Value::default() => powers.shifted(*constant),
            _ => Ok(powers),
        }
    }

    /// A polynomial of public values (Horner).
    fn public_polynomial(&self, coefficients: &[S::Value]) -> Result<Self> {
        if coefficients.len() < 2 {
            return Err(CircuitError::Constant.into());
        }
        let number = |c: &S::Value| Offset::every(Into::<Real>::into(*c).0);
        let offset = &self.facts.offset;
        let value =
            coefficients.iter().rev().fold(Offset::default(), |sum, c| sum.times(offset).plus(&number(c)));
        self.public(self.facts.len, value)
    }
}

impl Encrypted<Ckks> {
    /// Returns the mean of all values: a sum whose unit is divided by their number.
    ///
    /// # Errors
    /// As [`Encrypted::sum`].
    pub fn mean(&self) -> Result<Self> {
        self.divided_sum(self.len() as f64)
    }

    /// Returns the mean of the products aᵢ·bᵢ, as [`Encrypted::dot`] adds them. One level, or two where the sum shrinks.
    ///
    /// # Errors
    /// As [`Encrypted::dot`].
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let context = Context::<Ckks>::for_depth(1)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let (volts, amperes) = (secret.encrypt(&[230.0, 231.0])?, secret.encrypt(&[2.0, 4.0])?);
    /// let power = secret.decrypt(&volts.mean_product(&amperes)?)?;
    /// assert!((power.value() - 692.0).abs() <= power.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn mean_product(&self, other: &Self) -> Result<Self> {
        let divisor = self.len().max(other.len()) as f64;
        if self.facts.is_public() || other.facts.is_public() {
            return self.dot(other)?.scaled(1.0 / divisor);
        }
        self.crossed(other, Kind::Dot { divisor })
    }

    /// Returns the population variance: mean of squares less square of the mean. Two levels.
    ///
    /// # Errors
    /// As [`Encrypted::dot`].
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let context = Context::<Ckks>::builder().values_within(10.0).depth(2).build()?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let variance = secret.decrypt(&secret.encrypt(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])?.variance()?)?;
    /// assert!((variance.value() - 4.0).abs() <= variance.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn variance(&self) -> Result<Self> {
        if self.facts.offset.shared().is_some_and(|number| number != 0.0) {
            // The same for all values, it changes no distance from the mean.
            return self.without_offset().variance();
        }
        let squares = self.mean_product(self)?;
        let variance = squares.combined(&self.mean_to_square()?.square()?, true)?;
        Ok(variance.with_magnitude(squares.magnitude()))
    }
}
