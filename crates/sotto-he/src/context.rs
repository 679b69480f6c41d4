//! A scheme with its parameters, and how vectors lie in slots.

use core::fmt;
use std::sync::Arc;

use sotto_rlwe::{Evaluator, Expected, KeyId, Origin, Params, Shape};

use crate::error::{Error, Result, shown};
use crate::scheme::Arithmetic;

/// A scheme with parameters of at least 128 bits of security: makes keys, plans and descriptions. Cheap to clone.
///
/// ```
/// use sotto::{Ckks, Context};
///
/// let context = Context::<Ckks>::for_depth(2)?;
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
            shown(self.0.values_within)
        )?;
        match self.0.range {
            Some((first, last)) => write!(f, ", whole numbers {first}..={last}"),
            None => Ok(()),
        }
    }
}

impl<S: Arithmetic> Context<S> {
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

    /// Returns the shape of every input. Circuits follow shapes, so a plan holds only for inputs of this one: secret-key
    /// encryption, or the noisier public-key encryption, whose bound then stands for both.
    pub(crate) fn fresh_shape(&self) -> Result<Shape<S>> {
        let origin = if self.0.public_inputs { Origin::PublicKey } else { Origin::SecretKey };
        Shape::fresh(self.params(), origin, self.0.values_within / self.unit())
            .map_err(|error| Error::of_circuit(error.into(), self.params().degree(), S::EXACT))
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
}
