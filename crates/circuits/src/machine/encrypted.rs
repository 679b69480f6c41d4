//! The machine on ciphertexts.

use core::fmt;
use core::ops::ControlFlow;

use sotto_ring::Scratch;
use sotto_rlwe::{
    Addend, Adjustment, Ciphertext, EvalError, EvaluationKeys, Evaluator, LevelRules, Multiplier, Params,
    Plaintext, Shape,
};

use super::Outline;
use super::backend::Backend;

/// Computes on ciphertexts with an evaluator, evaluation keys and its own buffers, which it reuses for every operation.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../rlwe/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_circuits::{Encrypted, Machine};
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Ckks, Evaluator, Params, Scheme};
/// # let params = Params::<Ckks>::default_chain(4096, 0)?;
/// # let owner = Owner::new(&params, 1);
/// # let plaintext = Ckks::encode_slots(&params, &[0.5, 0.25], params.top_level())?;
/// # let readings = owner.public_key().encrypt(&plaintext, &mut secure_rng()?)?;
/// # let keys = owner.evaluation_keys(&[]);
/// // `readings` encrypts 0.5 and 0.25. The machine relinearises and rescales the product.
/// let evaluator = Evaluator::new(&params);
/// let mut machine = Encrypted::new(&evaluator, &keys);
/// let squares = machine.square(&readings)?;
/// assert_eq!((machine.level(&readings), machine.level(&squares)), (1, 0));
/// let slots = Ckks::decode_slots(&params, &owner.decrypt(&squares))?;
/// assert!((slots[0] - 0.25).abs() < 0.01 && (slots[1] - 0.0625).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Encrypted<'a, S: LevelRules> {
    evaluator: &'a Evaluator<S>,
    keys: &'a EvaluationKeys<S>,
    scratch: Scratch,
    watch: Option<&'a Watch<'a>>,
}

/// Called after every operation that a [`Tally`](super::Tally) counts; a break stops the circuit.
///
/// Example: [`Encrypted`]
pub type Watch<'a> = dyn Fn() -> ControlFlow<()> + 'a;

impl<S: LevelRules> fmt::Debug for Encrypted<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted").field("params", self.evaluator.params()).finish_non_exhaustive()
    }
}

impl<'a, S: LevelRules> Encrypted<'a, S> {
    /// Makes a machine with these keys.
    pub fn new(evaluator: &'a Evaluator<S>, keys: &'a EvaluationKeys<S>) -> Self {
        Self { evaluator, keys, scratch: Scratch::new(), watch: None }
    }

    /// Calls `watch` after every product, relinearisation and rotation. When it breaks, the circuit ends with
    /// [`EvalError::Interrupted`].
    #[must_use]
    pub fn watched_by(self, watch: &'a Watch<'a>) -> Self {
        Self { watch: Some(watch), ..self }
    }

    fn done(&self) -> Result<(), EvalError> {
        match self.watch.map(|watch| watch()) {
            Some(ControlFlow::Break(())) => Err(EvalError::Interrupted),
            _ => Ok(()),
        }
    }

    /// Returns the evaluator that runs the operations.
    pub fn evaluator(&self) -> &'a Evaluator<S> {
        self.evaluator
    }

    /// Returns this machine on shapes: a circuit is refused there exactly as here, without any computation.
    pub fn outline(&self) -> Outline<'a, S> {
        Outline::with_keys(self.evaluator.params(), self.keys)
    }

    /// Returns the keys for products and rotations.
    pub fn keys(&self) -> &'a EvaluationKeys<S> {
        self.keys
    }
}

impl<S: LevelRules> Backend for Encrypted<'_, S> {
    type Scheme = S;
    type Operand = Ciphertext<S>;
    type Multiplier = Multiplier<S>;

    fn params(&self) -> &Params<S> {
        self.evaluator.params()
    }

    fn has_key(&self, step: i32) -> bool {
        self.keys.can_rotate(step)
    }

    fn shape(operand: &Ciphertext<S>) -> &Shape<S> {
        operand.shape()
    }

    fn copied(&mut self, a: &Ciphertext<S>) -> Ciphertext<S> {
        self.evaluator.copy_with(a, &mut self.scratch)
    }

    fn give(&mut self, a: Ciphertext<S>) {
        self.evaluator.recycle(a, &mut self.scratch);
    }

    fn bounded(&mut self, a: Ciphertext<S>, within: f64, error: f64) -> Ciphertext<S> {
        a.with_slot_bounds(within, error)
    }

    fn adjust(&mut self, a: &Ciphertext<S>, by: Adjustment) -> Result<Ciphertext<S>, EvalError> {
        by.apply(self.evaluator, a, &mut self.scratch)
    }

    fn add_assign(&mut self, a: &mut Ciphertext<S>, b: &Ciphertext<S>) -> Result<(), EvalError> {
        self.evaluator.add_assign(a, b, &mut self.scratch)
    }

    fn subtract_assign(&mut self, a: &mut Ciphertext<S>, b: &Ciphertext<S>) -> Result<(), EvalError> {
        self.evaluator.subtract_assign(a, b, &mut self.scratch)
    }

    fn negate_assign(&mut self, a: &mut Ciphertext<S>) -> Result<(), EvalError> {
        self.evaluator.negate_assign(a)
    }

    fn add_plain_assign(&mut self, a: &mut Ciphertext<S>, b: &Plaintext<S>) -> Result<(), EvalError> {
        let scaling = S::addend_scaling(a.shape().scaling);
        let addend = Addend::new(self.evaluator.params(), b, b.level(), scaling);
        self.evaluator.add_plain_assign(a, &addend)
    }

    fn multiplier(&mut self, plaintext: &Plaintext<S>) -> Multiplier<S> {
        Multiplier::new(self.evaluator.params(), plaintext, plaintext.level())
    }

    fn multiply_plain_assign(&mut self, a: &mut Ciphertext<S>, b: &Multiplier<S>) -> Result<(), EvalError> {
        self.evaluator.multiply_plain_assign(a, b)?;
        self.done()
    }

    fn add_multiplied_plain_assign(
        &mut self,
        sum: &mut Ciphertext<S>,
        a: &Ciphertext<S>,
        b: &Multiplier<S>,
    ) -> Result<(), EvalError> {
        self.evaluator.add_multiplied_plain_assign(sum, a, b, &mut self.scratch)?;
        self.done()
    }

    fn multiply_integer_assign(&mut self, a: &mut Ciphertext<S>, integer: i64) -> Result<(), EvalError> {
        self.evaluator.multiply_scalar_assign(a, integer)
    }

    fn weighted(
        &mut self,
        terms: &[&Ciphertext<S>],
        weights: &[Vec<i64>],
    ) -> Result<Vec<Ciphertext<S>>, EvalError> {
        self.evaluator.weighted_sums_with(terms, weights, &mut self.scratch)
    }

    fn dropped_to(&mut self, a: &Ciphertext<S>, level: usize) -> Result<Ciphertext<S>, EvalError> {
        self.evaluator.drop_to_with(a, level, &mut self.scratch)
    }

    fn replaced_factor(&mut self, a: &mut Ciphertext<S>, factor: S::Value) -> S::Value {
        a.replace_factor(factor)
    }

    fn monomial_assign(&mut self, a: &mut Ciphertext<S>, power: usize) -> Result<(), EvalError> {
        self.evaluator.multiply_monomial_assign(a, power)
    }

    fn tensor(&mut self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        let product = self.evaluator.multiply_with(a, b, &mut self.scratch)?;
        self.done()?;
        Ok(product)
    }

    fn relinearise_assign(&mut self, a: &mut Ciphertext<S>) -> Result<(), EvalError> {
        self.evaluator.relinearise_assign(a, self.keys, &mut self.scratch)?;
        self.done()
    }

    fn relinearise_and_drop_assign(&mut self, a: &mut Ciphertext<S>) -> Result<(), EvalError> {
        let dropped = self.evaluator.relinearise_and_drop_with(a, self.keys, &mut self.scratch)?;
        self.evaluator.recycle(core::mem::replace(a, dropped), &mut self.scratch);
        self.done()
    }

    fn drop_assign(&mut self, a: &mut Ciphertext<S>) -> Result<(), EvalError> {
        self.evaluator.drop_modulus_assign(a, &mut self.scratch)
    }

    fn rotated(&mut self, a: &Ciphertext<S>, step: i32) -> Result<Ciphertext<S>, EvalError> {
        let rotated = match step {
            0 => self.evaluator.swap_rows_with(a, self.keys, &mut self.scratch),
            _ => self.evaluator.rotate_with(a, step, self.keys, &mut self.scratch),
        }?;
        self.done()?;
        Ok(rotated)
    }

    fn rotated_many(&mut self, a: &Ciphertext<S>, steps: &[i32]) -> Result<Vec<Ciphertext<S>>, EvalError> {
        if let [step] = steps {
            return Ok(vec![self.rotated(a, *step)?]);
        }
        let hoisted = self.evaluator.hoist(a, &mut self.scratch)?;
        let rotated = steps
            .iter()
            .map(|step| {
                let rotated = self.evaluator.rotate_hoisted(&hoisted, *step, self.keys, &mut self.scratch)?;
                self.done()?;
                Ok(rotated)
            })
            .collect();
        hoisted.recycle(&mut self.scratch);
        rotated
    }
}
