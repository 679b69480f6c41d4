//! Sums as the last step of a computation: the products or parts of a vector are added first; then the slots of the one
//! ciphertext that is left, at the lowest level that has room for them.

use std::sync::{Arc, Mutex};

use sotto_circuits::{CircuitError, Machine, Tally, sum_all, sum_block};

use super::arithmetic::pairs;
use super::shrink::{GROWTH, SPARE_BITS};
use super::work::{Operands, Operation, Outcome, decodes, run};
use super::{Body, Encrypted, Facts};
use crate::error::Result;
use crate::scheme::Arithmetic;

/// The sum of all parts of a vector, or of the products of two vectors' parts, slot by slot.
struct Parts;

impl<S: Arithmetic> Operation<S> for Parts {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        if let [parts] = operands {
            let one = S::number(1.0);
            return Ok(vec![
                machine.weighted_sum(&parts.iter().map(|part| (part, one)).collect::<Vec<_>>())?,
            ]);
        }
        Ok(vec![machine.sum_of_products(&pairs(operands).collect::<Vec<_>>())?])
    }
}

/// The sum of a ciphertext's slots, in every slot.
struct Slots {
    /// Slots after which a short vector repeats.
    period: Option<usize>,
}

impl<S: Arithmetic> Operation<S> for Slots {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let [[part]] = operands else { return Err(CircuitError::Empty("a sum of slots")) };
        Ok(vec![match self.period {
            Some(period) => sum_block(machine, part, period)?,
            None => sum_all(machine, part)?,
        }])
    }
}

impl<S: Arithmetic> Encrypted<S> {
    /// Returns Σ aᵢ as the last step of a computation: like [`Encrypted::sum`] and [`Encrypted::for_answer`], but primes are
    /// dropped before the rotations, which then cost less, and slots of real numbers shrink only as far as decryption
    /// needs, which keeps more of their bits.
    ///
    /// # Errors
    /// As [`Encrypted::sum`].
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let context = Context::<Ckks>::for_depth(1)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[1.5, 2.0, -3.0])?;
    /// let sum = secret.decrypt(&x.sum_for_answer()?)?;
    /// assert!((sum.value() - 0.5).abs() <= sum.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn sum_for_answer(&self) -> Result<Self> {
        if S::EXACT || self.facts.len == 1 || !self.facts.zero_padded {
            return self.sum()?.for_answer();
        }
        self.added(self.facts, &[self])
    }

    /// Returns Σ aᵢ·bᵢ as the last step of a computation, as [`Encrypted::sum_for_answer`] does.
    ///
    /// # Errors
    /// As [`Encrypted::dot`].
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let context = Context::<Ckks>::for_depth(1)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let (x, y) = (secret.encrypt(&[1.5, 2.0])?, secret.encrypt(&[4.0, -1.0])?);
    /// let sum = secret.decrypt(&x.dot_for_answer(&y)?)?;
    /// assert!((sum.value() - 4.0).abs() <= sum.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn dot_for_answer(&self, other: &Self) -> Result<Self> {
        let facts = self.product_facts(other)?;
        if S::EXACT || facts.len == 1 || !facts.zero_padded {
            return self.dot(other)?.for_answer();
        }
        self.added(facts, &[self, other])
    }

    /// Adds the parts of the operands, which stand for a vector with these facts, and then their slots.
    fn added(&self, facts: Facts, operands: &[&Self]) -> Result<Self> {
        let parts = self.context.parts(facts.len);
        let slots = Slots { period: self.context.period(facts.len) };
        let magnitude = facts.magnitude * parts as f64;
        let facts = Facts { magnitude, ..facts }.finite()?;
        let params = self.context.params();
        let body = run(operands, &Parts)?.bounded(params, magnitude / facts.unit.abs());
        let sums = Self::new(&self.context, facts, body);
        let (shift, level) = sums.outlined().room_for(&slots)?;
        let sums = if shift == 0 { sums } else { sums.shrunk(f64::from(shift).exp2())? };
        let sums = sums.lowered(|_| level)?;
        let magnitude = magnitude / parts as f64 * facts.len as f64;
        let facts = Facts { len: 1, magnitude, ..sums.facts }.finite()?;
        Self::computed(facts, &[&sums], &slots)
    }

    /// The shapes alone.
    fn outlined(&self) -> Self {
        let tally = Arc::new(Mutex::new(Tally::default()));
        Self::new(&self.context, self.facts, Body::Dry { parts: self.shapes(), tally })
    }

    /// Bits by which the slots of a dry vector have to shrink before they are added, and the lowest level at which that is
    /// about as exact as at any.
    fn room_for(&self, slots: &Slots) -> Result<(u32, usize)> {
        let most = (self.facts.len as f64).log2().ceil() as u32;
        let mut refusal = None;
        for shift in 0..=most {
            let shrunk = match shift {
                0 => Ok(self.clone()),
                _ => self.shrunk(f64::from(shift).exp2()),
            };
            let found = shrunk.and_then(|shrunk| {
                let top = shrunk.levels_left();
                let errors: Vec<_> = (0..=top).map(|level| shrunk.error_at(level, slots)).collect();
                let best = errors.iter().flatten().fold(f64::INFINITY, |a, b| a.min(*b));
                match errors.iter().position(|error| error.as_ref().is_ok_and(|e| *e <= GROWTH * best)) {
                    Some(level) => Ok((shift, level)),
                    None => shrunk.error_at(top, slots).map(|_| (shift, top)),
                }
            });
            match found {
                Ok(found) => return Ok(found),
                Err(error) if error.is_room() => refusal = refusal.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        Err(refusal.unwrap_or(crate::error::Error::DryRun))
    }

    /// The error of the sum of a dry vector's slots, added at a level.
    fn error_at(&self, level: usize, slots: &Slots) -> Result<f64> {
        let params = self.context.params();
        let sum = Self::new(&self.context, self.facts, run(&[&self.lowered(|_| level)?], slots)?);
        let Body::Dry { parts, .. } = &sum.body else { return Err(crate::error::Error::DryRun) };
        let mut largest = 0.0_f64;
        for shape in parts {
            decodes(params, shape)?;
            if shape.room(params) < SPARE_BITS {
                let degree = params.degree();
                let reason = "the sum leaves no room for decryption".into();
                return Err(crate::error::Error::Depth { degree, reason });
            }
            largest = largest.max(shape.slot_error(params));
        }
        Ok(largest)
    }
}
