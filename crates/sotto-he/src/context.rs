//! A scheme with its parameters: keys, dry runs, and how vectors lie in slots.

use core::fmt;
use std::sync::{Arc, Mutex};

use sotto_circuits::{Tally, row_steps};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::SecretRng;
use sotto_rlwe::{Evaluator, Expected, KeyId, Origin, Params, Shape};

use crate::builder::ContextBuilder;
use crate::encrypted::{Body, Encrypted, Facts};
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::public::Public;
use crate::scheme::Arithmetic;
use crate::secret::Secret;

/// A scheme with parameters of at least 128 bits of security: makes keys, plans and descriptions. Cheap to clone.
///
/// ```
/// use sotto::{Ckks, Context};
///
/// let context = Context::<Ckks>::for_depth(3)?;
/// let (secret, _public) = context.keys(&mut sotto::secure_rng()?)?;
/// let x = secret.encrypt(&[20.5, 21.0, 18.5])?;
/// let y = ((&x * &x)? + 1.5)?;
/// let sum = secret.decrypt(&y.sum()?)?;
/// assert!((sum.value() - 1208.0).abs() <= sum.bound());
/// # Ok::<(), sotto::Error>(())
/// ```
pub struct Context<S: Arithmetic>(pub(crate) Arc<Inner<S>>);

pub(crate) struct Inner<S: Arithmetic> {
    pub(crate) params: Params<S>,
    pub(crate) evaluator: Evaluator<S>,
    pub(crate) values_within: f64,
    /// Inputs may be encrypted with the public key, which is noisier.
    pub(crate) public_inputs: bool,
    /// The declared range of whole-number inputs, for comparisons.
    pub(crate) range: Option<(i64, i64)>,
    /// Values that one ciphertext holds.
    pub(crate) slots: usize,
}

impl<S: Arithmetic> Clone for Context<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Arithmetic> PartialEq for Context<S> {
    fn eq(&self, other: &Self) -> bool {
        self.0.params == other.0.params
            && self.0.values_within == other.0.values_within
            && self.0.public_inputs == other.0.public_inputs
            && self.0.range == other.0.range
    }
}

impl<S: Arithmetic> fmt::Debug for Context<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes one line: scheme, degree, levels, slots.
impl<S: Arithmetic> fmt::Display for Context<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.params();
        write!(
            f,
            "{}, n = {}, {} levels, {} values a ciphertext, inputs within ±{}",
            S::ID,
            params.degree(),
            params.top_level(),
            self.0.slots,
            self.0.values_within
        )?;
        match self.0.range {
            Some((first, last)) => write!(f, ", whole numbers {first}..={last}"),
            None => Ok(()),
        }
    }
}

impl<S: Arithmetic> Context<S> {
    /// Chooses the smallest parameters that take `depth` products one after another and then a sum over all slots.
    ///
    /// # Errors
    /// [`Error::NoParameters`] if none do.
    pub fn for_depth(depth: usize) -> Result<Self> {
        Self::builder().depth(depth).build()
    }

    /// Takes the default chain of a degree: n = 4096, 8192, 16384, 32768 or 65536.
    ///
    /// # Errors
    /// [`Error::Parameters`] for another degree.
    pub fn with_degree(degree: usize) -> Result<Self> {
        Self::builder().degree(degree).build()
    }

    /// Starts a choice with bounds other than the defaults.
    pub fn builder() -> ContextBuilder<S> {
        ContextBuilder::default()
    }

    /// Makes a context of given parameters, for callers that use the layers below. Inputs are declared to be within
    /// ±`values_within`.
    ///
    /// # Errors
    /// [`Error::NoParameters`] if the parameters have no slots or cannot switch keys; [`Error::Bound`] for a bound that is
    /// not a positive number.
    pub fn with_params(params: &Params<S>, values_within: f64) -> Result<Self> {
        Self::with_inputs(params, values_within, false, None)
    }

    pub(crate) fn with_inputs(
        params: &Params<S>,
        values_within: f64,
        public_inputs: bool,
        range: Option<(i64, i64)>,
    ) -> Result<Self> {
        if !values_within.is_normal() || values_within < 0.0 {
            return Err(Error::Bound(values_within));
        }
        let slots = S::slot_shape(params).map(|(rows, columns)| rows * columns);
        match slots.filter(|_| params.can_switch_keys()) {
            Some(slots) => {
                let evaluator = Evaluator::new(params);
                let params = params.clone();
                Ok(Self(Arc::new(Inner { params, evaluator, values_within, public_inputs, range, slots })))
            }
            None => Err(Error::NoParameters {
                scheme: S::ID,
                reason: "these have no slots or no special prime".into(),
            }),
        }
    }

    /// Returns the parameters, for the layers below.
    pub fn params(&self) -> &Params<S> {
        &self.0.params
    }

    /// Returns the number of values that one ciphertext holds: n/2 for CKKS, n for BFV and BGV. Longer vectors take
    /// several.
    pub fn slots(&self) -> usize {
        self.0.slots
    }

    /// Returns the declared bound on the absolute value of every input.
    pub fn values_within(&self) -> f64 {
        self.0.values_within
    }

    /// Returns true if plans hold for inputs that others encrypted with the public key
    /// ([`public_inputs`](crate::ContextBuilder::public_inputs)).
    pub fn takes_public_inputs(&self) -> bool {
        self.0.public_inputs
    }

    /// Makes a secret key, and the public keys that any computation needs: the public key, the relinearisation key and one
    /// Galois key for each power of two (14 keys at n = 8192). [`Context::keys_for`] makes fewer.
    ///
    /// # Errors
    /// None with parameters that a context accepts; the layers below return a `Result`.
    pub fn keys(&self, rng: &mut impl SecretRng) -> Result<(Secret<S>, Public<S>)> {
        self.keys_of(DeviceSecret::generate(rng), rng)
    }

    /// Makes the keys of [`Context::keys`] from a stored device secret. The secret key is that of [`Context::secret`]; the
    /// public keys are fresh, and go with those of earlier calls.
    ///
    /// # Errors
    /// As [`Context::keys`].
    ///
    /// ```
    /// use sotto::{Context, Bfv, DeviceSecret};
    ///
    /// let context = Context::<Bfv>::for_depth(1)?;
    /// let mut rng = sotto::secure_rng()?;
    /// let stored = [7; 32]; // a real one: `Secret::device_secret`
    /// let (secret, _public) = context.keys_of(DeviceSecret::from_bytes(&stored), &mut rng)?;
    /// assert_eq!(secret.id(), context.secret(DeviceSecret::from_bytes(&stored)).id());
    /// assert_eq!(secret.decrypt(&secret.encrypt(&[3, 4])?.square()?.sum()?)?.value(), 25);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn keys_of(&self, device: DeviceSecret, rng: &mut impl SecretRng) -> Result<(Secret<S>, Public<S>)> {
        let (rows, columns) = S::slot_shape(self.params()).unwrap_or((1, 1));
        let mut steps = row_steps(columns);
        steps.extend((rows == 2).then_some(0));
        self.make_keys(device, true, &steps, rng)
    }

    /// Makes a secret key, and of the evaluation keys only those that the plan lists.
    ///
    /// # Errors
    /// [`Error::Mixed`] for a plan of another context.
    ///
    /// ```
    /// use sotto::{Bfv, Context};
    ///
    /// let context = Context::<Bfv>::for_depth(1)?;
    /// let plan = context.plan(&[100], |x| &x[0] * &x[0])?;
    /// assert!(plan.rotations().is_empty());
    /// let (secret, public) = context.keys_for(&plan, &mut sotto::secure_rng()?)?;
    /// # let _ = (secret, public);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn keys_for(&self, plan: &Plan<S>, rng: &mut impl SecretRng) -> Result<(Secret<S>, Public<S>)> {
        if plan.context() != self {
            return Err(Error::Mixed);
        }
        let steps: Vec<i32> = plan.rotations().iter().copied().collect();
        self.make_keys(DeviceSecret::generate(rng), plan.needs_relinearisation(), &steps, rng)
    }

    fn make_keys(
        &self,
        device: DeviceSecret,
        relinearisation: bool,
        steps: &[i32],
        rng: &mut impl SecretRng,
    ) -> Result<(Secret<S>, Public<S>)> {
        let key = SecretKey::derive(&device, self.params());
        let public_key = key.public_key(rng);
        let evaluation = key.evaluation_keys(relinearisation, steps, rng)?;
        let public = Public::of(self, public_key, evaluation);
        Ok((Secret::of(self, device, key, Some(public.clone())), public))
    }

    /// Derives the secret key from a stored device secret; the result is always the same. It encrypts and decrypts; vectors
    /// that it encrypts carry no evaluation keys until [`Public::attach`].
    pub fn secret(&self, device: DeviceSecret) -> Secret<S> {
        let key = SecretKey::derive(&device, self.params());
        Secret::of(self, device, key, None)
    }

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
        let body = Body::Dry { parts: vec![self.fresh_shape()?; self.parts(len)], tally: Arc::clone(tally) };
        Ok(Encrypted::new(self, facts, body))
    }

    /// Returns the shape of every input. Circuits follow shapes, so a plan holds only for inputs of this one: secret-key
    /// encryption, or the noisier public-key encryption, whose bound then stands for both.
    pub(crate) fn fresh_shape(&self) -> Result<Shape<S>> {
        let origin = if self.0.public_inputs { Origin::PublicKey } else { Origin::SecretKey };
        Shape::fresh(self.params(), origin, self.0.values_within / self.unit())
            .map_err(|error| Error::of_circuit(error.into(), self.params().degree()))
    }

    /// A fresh ciphertext's expected key and shape.
    pub(crate) fn fresh(&self, key: KeyId) -> Result<Expected<S>> {
        Ok(self.expected(key, self.fresh_shape()?))
    }

    /// Returns the expected key and shape of a ciphertext that arrives.
    pub(crate) fn expected(&self, key: KeyId, shape: Shape<S>) -> Expected<S> {
        Expected { parameters: self.params().id(), key, shape, reduction: None }
    }

    /// Ciphertexts of a vector.
    pub(crate) fn parts(&self, len: usize) -> usize {
        len.div_ceil(self.0.slots)
    }

    /// Slots after which a vector repeats, so that a sum takes only as many rotations as it has values; None for a vector of
    /// more values than a row has slots.
    pub(crate) fn period(&self, len: usize) -> Option<usize> {
        let (_, columns) = S::slot_shape(self.params()).unwrap_or((1, 1));
        Some(len.next_power_of_two()).filter(|period| *period <= columns)
    }

    /// The slots of a part of a vector of `len` values: padded with zeros, repeated where the vector repeats.
    pub(crate) fn filled(&self, part: &[S::Value], len: usize) -> Vec<S::Value> {
        let mut block = part.to_vec();
        let Some(period) = self.period(len) else { return block };
        block.resize(period, S::Value::default());
        block.repeat(self.0.slots / period)
    }

    /// The factor that fresh slots are multiplied by after decryption: slots of CKKS stay within ±1.
    pub(crate) fn unit(&self) -> f64 {
        if S::EXACT { 1.0 } else { self.0.values_within.log2().ceil().exp2() }
    }

    /// Levels that are left after `depth` products and a sum.
    pub(crate) fn takes(&self, depth: usize) -> Result<usize> {
        let context = Self::with_inputs(self.params(), 1.0, self.0.public_inputs, None)?;
        let plan = context.plan(&[context.slots()], |x| {
            let mut power = x[0].clone();
            for _ in 0..depth {
                power = (&power * &power)?;
            }
            // Magnitudes of whole numbers are the caller's to declare.
            Ok(power.sum()?.with_magnitude(1.0))
        })?;
        Ok(plan.levels_left())
    }
}
