//! Sums of several vectors with public weights.

use sotto_circuits::{CircuitError, Machine};
use sotto_rlwe::small_integer;

use super::offset::Offset;
use super::work::{Operands, Operation, Outcome, check, run};
use super::{Encrypted, Facts};
use crate::error::{Error, Result};
use crate::scheme::{Arithmetic, Real};

/// Σ weight·operand, part by part; the one part of a repeated value goes with every part of the others.
struct WeightedSum<V> {
    weights: Vec<V>,
    parts: usize,
}

impl<S: Arithmetic> Operation<S> for WeightedSum<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let part = |index: usize| {
            let terms = operands.iter().zip(&self.weights);
            terms.map(|(parts, weight)| (&parts[index.min(parts.len() - 1)], *weight)).collect::<Vec<_>>()
        };
        (0..self.parts).map(|index| machine.weighted_sum(&part(index))).collect()
    }
}

/// Slots up to this bound need no level: they stay decryptable at the last one.
const LARGEST_SLOT: f64 = 512.0;

impl<S: Arithmetic> Encrypted<S> {
    /// Returns w₀·v₀ + w₁·v₁ + …, slot by slot: no product of ciphertexts, no key. One level at most; none in BFV and BGV,
    /// nor in CKKS if the vectors' units make the weights small whole numbers, as in a mean of inputs. A vector of length 1
    /// goes with vectors of every length.
    ///
    /// # Errors
    /// [`Error::Weights`] if there is not one weight for each vector, [`Error::Length`] for vectors of different lengths,
    /// [`Error::Mixed`] for vectors of different contexts, [`Error::Value`] for a weight that is not a number,
    /// [`Error::Circuit`] for no vector, [`Error::Depth`] without room.
    ///
    /// ```
    /// # use sotto::{Ckks, Context, Encrypted};
    /// # let context = Context::<Ckks>::for_depth(1)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let (x, y) = (secret.encrypt(&[1.0, 2.0, 3.0])?, secret.encrypt(&[10.0, 20.0, 30.0])?);
    /// let blend = secret.decrypt(&Encrypted::weighted_sum(&[&x, &y], &[0.7, 0.25])?)?;
    /// for (value, exact) in blend.values().iter().zip([3.2, 6.4, 9.6]) {
    ///     assert!((value - exact).abs() <= blend.bound());
    /// }
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn weighted_sum(vectors: &[&Self], weights: &[S::Value]) -> Result<Self> {
        if vectors.len() != weights.len() {
            return Err(Error::Weights { vectors: vectors.len(), weights: weights.len() });
        }
        let first = vectors.first().ok_or(CircuitError::Empty("a weighted sum"))?;
        let real: Vec<f64> = weights.iter().map(|weight| Into::<Real>::into(*weight).0).collect();
        if let Some(index) = real.iter().position(|weight| !weight.is_finite()) {
            return Err(Error::Value { index, within: f64::MAX });
        }
        let mut len = 1;
        for vector in vectors {
            if vector.context != first.context {
                return Err(Error::Mixed);
            }
            match (len, vector.facts.len) {
                (1, other) => len = other,
                (_, 1) => {}
                (left, right) if left == right => {}
                (left, right) => return Err(Error::Length { left, right }),
            }
        }
        let terms: Vec<(&Self, f64, S::Value)> = vectors
            .iter()
            .zip(real.iter().zip(weights))
            .filter(|(vector, (real, _))| **real != 0.0 && !vector.facts.is_public())
            .map(|(vector, (real, weight))| (*vector, *real, *weight))
            .collect();
        let offset =
            vectors.iter().zip(&real).fold(Offset::default(), |total, (vector, weight)| {
                match vector.facts.offset.is_none() {
                    true => total,
                    false => total.plus(&vector.facts.offset.times(&Offset::every(*weight))),
                }
            });
        if terms.is_empty() {
            return first.public(len, offset);
        }
        let used: Vec<&Self> = terms.iter().map(|(vector, ..)| *vector).collect();
        let context = &first.context;
        let encrypted: f64 = terms.iter().map(|(vector, real, _)| real.abs() * vector.facts.encrypted).sum();
        let zero_padded = used.iter().all(|vector| vector.facts.zero_padded && vector.facts.len == len);
        let parts = context.parts(len);
        let mut refusal = Error::Mixed;
        for unit in units(&terms, encrypted) {
            let facts = Facts { len, zero_padded, unit, ..first.facts.clone() }.within_slots(encrypted)?;
            let slot = |(vector, real, weight): &(&Self, f64, S::Value)| match S::EXACT {
                true => *weight,
                false => S::number(real * vector.facts.unit / unit),
            };
            let work = WeightedSum { weights: terms.iter().map(slot).collect(), parts };
            match check(&used, &work) {
                Ok(()) => return Self::new(context, facts, run(&used, &work)?).plus_offset(&offset, len),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }
}

/// Units of the result to try, the best first: that in which the weights are small whole numbers, and that in which slots
/// stay within ±1.
fn units<S: Arithmetic>(terms: &[(&Encrypted<S>, f64, S::Value)], encrypted: f64) -> Vec<f64> {
    let weights = || terms.iter().map(|(vector, real, _)| real * vector.facts.unit);
    let Some(least) = weights().min_by(|a, b| a.abs().total_cmp(&b.abs())) else { return Vec::new() };
    if S::EXACT {
        return vec![1.0];
    }
    // A power of two: sums with vectors of other such units need no level.
    let within = if encrypted > 0.0 { encrypted.log2().ceil().exp2() } else { 1.0 };
    let mut units = vec![within];
    if weights().all(|weight| small_integer(weight / least).is_some()) {
        let first = usize::from(encrypted / least.abs() > LARGEST_SLOT);
        units.insert(first, least);
    }
    units
}
