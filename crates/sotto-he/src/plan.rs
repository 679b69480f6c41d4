//! Dry runs and their results.

use core::fmt;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use sotto_circuits::Tally;
use sotto_decrypt::rounded_error;
use sotto_rlwe::{Origin, Shape};
use sotto_wire::{EvaluationKeyCounts, evaluation_keys_bytes, expanded_bytes};

use crate::context::Context;
use crate::encrypted::{Body, Encrypted, Facts, decodes, fresh_errors};
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;

/// The needs of a computation and the accuracy of its answer, from a dry run ([`Context::plan`]). The owner keeps it: an
/// answer that came as bytes is decrypted by its plan.
///
/// ```
/// use sotto::{Ckks, Context};
///
/// let context = Context::<Ckks>::for_depth(2)?;
/// let plan = context.plan(&[1000, 1000], |x| x[0].dot(&x[1]))?;
/// assert!(plan.needs_relinearisation() && plan.rotations().len() == 10);
/// // Off by less than a ten-thousandth of the largest possible result.
/// assert!(plan.error_bound() < plan.magnitude() / 10_000.0);
/// println!("{plan}");
/// # Ok::<(), sotto::Error>(())
/// ```
pub struct Plan<S: Arithmetic> {
    context: Context<S>,
    lengths: Vec<usize>,
    facts: Facts,
    shapes: Vec<Shape<S>>,
    /// A bound on the error of the slots of each part.
    slot_errors: Vec<f64>,
    tally: Tally,
}

impl<S: Arithmetic> Context<S> {
    /// Runs a computation dry, on vectors of the given lengths, without keys or values. The plan lists the keys that it
    /// needs and the error bound of its answer. The owner decrypts an answer that came as bytes by its plan.
    ///
    /// # Errors
    /// The refusal that the computation would meet; [`Error::Wraps`] if whole numbers may grow beyond the plain modulus.
    pub fn plan(
        &self,
        lengths: &[usize],
        computation: impl FnOnce(&[Encrypted<S>]) -> Result<Encrypted<S>>,
    ) -> Result<Plan<S>> {
        let plans = self.plan_all(lengths, |inputs| Ok(vec![computation(inputs)?]))?;
        plans.into_iter().next().ok_or(Error::DryRun)
    }

    /// Like [`Context::plan`], for a computation with several results: one plan each. Every plan lists the keys and the
    /// work of the whole computation.
    ///
    /// # Errors
    /// As [`Context::plan`].
    pub fn plan_all(
        &self,
        lengths: &[usize],
        computation: impl FnOnce(&[Encrypted<S>]) -> Result<Vec<Encrypted<S>>>,
    ) -> Result<Vec<Plan<S>>> {
        let tally = Arc::new(Mutex::new(Tally::default()));
        let inputs = lengths.iter().map(|len| self.dry(*len, &tally)).collect::<Result<Vec<_>>>()?;
        let outputs = computation(&inputs)?;
        outputs.iter().map(|output| Plan::of(self, lengths, output)).collect()
    }

    fn dry(&self, len: usize, tally: &Arc<Mutex<Tally>>) -> Result<Encrypted<S>> {
        let facts = Facts::fresh(self, len)?;
        let origin = if self.takes_public_inputs() { Origin::PublicKey } else { Origin::SecretKey };
        let errors = fresh_errors(self, len, origin);
        let parts = vec![self.fresh_shape()?; self.parts(len)];
        let body = Body::Dry { parts, errors, tally: Arc::clone(tally) };
        Ok(Encrypted::new(self, facts, body))
    }
}

impl<S: Arithmetic> Plan<S> {
    pub(crate) fn of(context: &Context<S>, lengths: &[usize], output: &Encrypted<S>) -> Result<Self> {
        let Body::Dry { parts, tally, .. } = &output.body else { return Err(Error::Mixed) };
        let facts = output.facts.clone();
        let plain_modulus = context.params().plain_modulus();
        if S::EXACT && !facts.is_public() && 2.0 * facts.magnitude >= plain_modulus as f64 {
            return Err(Error::Wraps { magnitude: facts.magnitude, limit: plain_modulus / 2 });
        }
        parts.iter().try_for_each(|shape| decodes(context.params(), shape))?;
        let tally = tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let (context, lengths, shapes) = (context.clone(), lengths.to_vec(), parts.clone());
        Ok(Self { context, lengths, facts, shapes, slot_errors: output.slot_errors(), tally })
    }

    pub(crate) fn slot_errors(&self) -> &[f64] {
        &self.slot_errors
    }

    pub(crate) fn output(&self) -> (&Facts, &[Shape<S>]) {
        (&self.facts, &self.shapes)
    }

    /// Returns the context that it was planned in.
    pub fn context(&self) -> &Context<S> {
        &self.context
    }

    /// Returns the steps of the rotations, which need a Galois key each; 0 is the swap of the two rows of BFV and BGV.
    pub fn rotations(&self) -> &BTreeSet<i32> {
        &self.tally.steps
    }

    /// Returns true if a product of two ciphertexts occurs.
    pub fn needs_relinearisation(&self) -> bool {
        self.tally.relinearisations > 0
    }

    /// Returns the numbers of products of ciphertexts, of products with plain vectors, and of rotations.
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.tally.products, self.tally.plain_products, self.tally.rotations)
    }

    /// Returns the bytes of the evaluation keys that the computation needs.
    pub fn key_bytes(&self) -> usize {
        let counts = EvaluationKeyCounts {
            relinearisation: self.needs_relinearisation(),
            galois: self.tally.steps.len(),
            transfers: 0,
        };
        evaluation_keys_bytes(self.context.params(), counts)
    }

    /// Returns the bytes of the answer's ciphertexts.
    pub fn answer_bytes(&self) -> usize {
        let bytes = |shape: &Shape<S>| expanded_bytes(self.context.params(), shape.level, shape.components);
        self.shapes.iter().map(bytes).sum()
    }

    /// Returns the levels that the computation leaves unused.
    pub fn levels_left(&self) -> usize {
        self.shapes.iter().map(|shape| shape.level).min().unwrap_or(0)
    }

    /// Returns a bound on the error of every value of the answer, which is rounded to a step that the noise hides behind
    /// ([`Answer::bound`](crate::Answer::bound) is never larger). 0 for whole numbers.
    pub fn error_bound(&self) -> f64 {
        if S::EXACT {
            return 0.0;
        }
        let slot = self.slot_errors.iter().copied().fold(0.0, f64::max);
        rounded_error(slot) * self.facts.unit.abs() + self.facts.rounding::<S>()
    }

    /// Returns a bound on the absolute value of every value of the answer.
    pub fn magnitude(&self) -> f64 {
        self.facts.magnitude
    }
}

impl<S: Arithmetic> fmt::Debug for Plan<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<S: Arithmetic> fmt::Display for Plan<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (products, plain, rotations) = self.counts();
        writeln!(f, "parameters  {}", self.context)?;
        writeln!(f, "inputs      {:?} values", self.lengths)?;
        writeln!(f, "work        {products} products, {plain} with plain vectors, {rotations} rotations")?;
        writeln!(
            f,
            "keys        {} Galois keys{}: {} bytes",
            self.rotations().len(),
            if self.needs_relinearisation() { " and the relinearisation key" } else { "" },
            self.key_bytes()
        )?;
        write!(f, "answer      {} values in {} bytes, ", self.facts.len, self.answer_bytes())?;
        if S::EXACT { write!(f, "exact") } else { write!(f, "off by at most {:.1e}", self.error_bound()) }
    }
}
