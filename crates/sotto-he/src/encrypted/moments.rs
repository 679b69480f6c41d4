//! Sums as the last step of a computation: the products or parts of a vector are added first; then the slots of the one
//! ciphertext that is left, at the lowest level that has room for them.

use std::sync::{Arc, Mutex};

use sotto_circuits::{CircuitError, Machine, Tally};

use super::body::{Body, assumed_errors, slot_errors};
use super::shrink::{GROWTH, LAST_BITS};
use super::slotwise::pairs;
use super::sums::{factor_of, shrunk, slots};
use super::work::{Operands, Operation, Outcome, decodes, run};
use super::{Encrypted, Facts};
use crate::error::{Error, Result};
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

/// The sum of a ciphertext's slots, in every slot, times a factor.
struct Slots<V> {
    /// Slots after which a short vector repeats.
    period: Option<usize>,
    factor: Option<V>,
}

impl<S: Arithmetic> Operation<S> for Slots<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let [[part]] = operands else { return Err(CircuitError::Empty("a sum of slots")) };
        let sum = slots(machine, part, self.period)?;
        Ok(vec![shrunk(machine, sum, self.factor)?])
    }
}

impl<S: Arithmetic> Encrypted<S> {
    /// Returns Σ aᵢ as the last step of a computation: like [`Encrypted::sum`] and [`Encrypted::for_answer`], but primes are
    /// dropped before the rotations, which then cost less.
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
        let facts = &self.facts;
        if S::EXACT || facts.is_public() || facts.len == 1 || !facts.zero_padded {
            return self.sum()?.for_answer();
        }
        if !facts.offset.is_none() {
            let encrypted = self.without_offset().sum_for_answer()?;
            return encrypted.plus_offset(&facts.offset.sum(facts.len), 1);
        }
        self.added(facts, &[self])
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
        let plain = |vector: &Self| !vector.facts.is_public() && vector.facts.offset.is_none();
        if S::EXACT || !plain(self) || !plain(other) {
            return self.dot(other)?.for_answer();
        }
        let facts = self.product_facts(other)?;
        if facts.len == 1 || !facts.zero_padded {
            return self.dot(other)?.for_answer();
        }
        self.added(&facts, &[self, other])
    }

    /// Adds the parts of the operands, which stand for a vector with these facts, and then their slots.
    fn added(&self, facts: &Facts, operands: &[&Self]) -> Result<Self> {
        let parts = self.context.parts(facts.len);
        let period = self.context.period(facts.len);
        let (len, encrypted) = (facts.len, facts.encrypted);
        let facts = facts.clone().within_slots(encrypted * parts as f64)?;
        let params = self.context.params();
        let body = run(operands, &Parts)?.bounded(params, facts.slots_within());
        let sums = Self::new(&self.context, facts, body);
        let (shift, level) = sums.outlined().room_for(period)?;
        let sums = sums.lowered(|_| level)?;
        let unit = sums.facts.unit * f64::from(shift).exp2();
        let facts = Facts { len: 1, unit, ..sums.facts.clone() }.within_slots(encrypted * len as f64)?;
        Self::computed(facts, &[&sums], &Slots { period, factor: factor_of::<S>(shift, 1.0) })
    }

    /// The shapes alone, to choose by them.
    pub(super) fn outlined(&self) -> Self {
        let (parts, tally) = (self.shapes(), Arc::new(Mutex::new(Tally::default())));
        let errors = assumed_errors(&self.context, &parts);
        Self::new(&self.context, self.facts.clone(), Body::Dry { parts, errors, tally })
    }

    /// Returns the bits by which the sum of a dry vector's slots has to shrink after the rotations, and the lowest level to add
    /// them at that is about as exact as any.
    fn room_for(&self, period: Option<usize>) -> Result<(u32, usize)> {
        let mut refusal = Error::DryRun;
        let mut found = Vec::new();
        for level in 0..=self.levels_left() {
            let lowered = self.lowered(|_| level)?;
            for shift in 0..=(self.facts.len as f64).log2().ceil() as u32 {
                match lowered.error_of(&Slots { period, factor: factor_of::<S>(shift, 1.0) }) {
                    Ok(error) => {
                        found.push((shift, level, error * f64::from(shift).exp2()));
                        break;
                    }
                    Err(error) if error.is_room() => refusal = error,
                    Err(error) => return Err(error),
                }
            }
        }
        let best = found.iter().map(|(.., error)| *error).fold(f64::INFINITY, f64::min);
        let chosen = found.into_iter().find(|(.., error)| *error <= GROWTH * best);
        chosen.map(|(shift, level, _)| (shift, level)).ok_or(refusal)
    }

    /// Returns the error of the slots of a dry vector's sum.
    fn error_of(&self, slots: &Slots<S::Value>) -> Result<f64> {
        let params = self.context.params();
        let sum = Self::new(&self.context, self.facts.clone(), run(&[self], slots)?);
        let Body::Dry { parts, .. } = &sum.body else { return Err(Error::DryRun) };
        for shape in parts {
            decodes(params, shape)?;
            if shape.room(params) < LAST_BITS {
                let degree = params.degree();
                let reason = "the sum leaves no room for decryption".into();
                return Err(Error::Depth { degree, reason });
            }
        }
        Ok(slot_errors(&self.context, 1, parts, sum.body.errors()).into_iter().fold(0.0, f64::max))
    }
}
