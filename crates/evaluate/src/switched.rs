//! Sums of ciphertexts that are switched to one key as they come.

use sotto_ring::Scratch;
use sotto_rlwe::{Ciphertext, EvalError, EvaluationKeys, Evaluator, KeyId, Log2, Noise, Params, Shape};
use sotto_runtime::Managed;
use sotto_wire::{AnyCiphertext, WireError};

use crate::input::Input;

/// Number of polynomials at the top level that a caller's buffers keep for the next ciphertext.
const SPARE: usize = 32;

/// A sum of ciphertexts, each switched to one key. Sums of parts can be joined in any order: the frame is the same.
///
/// Its residues are those of a plan that switches and adds. Its noise bound is that of the noisiest switched ciphertext,
/// times their number: it does not depend on the order, and is never below the bound of such a plan.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../rlwe/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, Params, Scheme};
/// use sotto_evaluate::{Input, SwitchedSum};
/// use sotto_ring::Scratch;
/// use sotto_rlwe::Evaluator;
/// use sotto_wire::{AnyCiphertext, Body};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let (owner, boiler, pump) = (Owner::new(&params, 1), Owner::new(&params, 2), Owner::new(&params, 3));
/// # let encrypt = |device: &Owner<Bfv>, values: &[i64]| {
/// #     let plaintext = Bfv::encode_slots(&params, values, params.top_level())?;
/// #     let ciphertext = device.public_key().encrypt(&plaintext, &mut secure_rng()?)?;
/// #     Ok::<_, Box<dyn std::error::Error>>(AnyCiphertext::Expanded(ciphertext).write())
/// # };
/// # let mut keys = owner.evaluation_keys(&[]);
/// # for device in [&boiler, &pump] {
/// #     keys.transfers.insert(device.id, owner.transfer_key(device));
/// # }
/// // Two devices have keys of their own; the cloud has keys that lead from these to the owner's.
/// let frames = [encrypt(&boiler, &[215, 198])?, encrypt(&pump, &[187, 203])?];
/// let (evaluator, mut scratch) = (Evaluator::new(&params), Scratch::new());
/// let mut sum = SwitchedSum::new(keys.key);
/// for frame in frames {
///     let input = Input::of(&params, &Body::read(frame, 1 << 20)?)?;
///     sum.add(input, &evaluator, &keys, &mut scratch)?;
/// }
/// let frame = sum.frame(&params)?.expect("two ciphertexts");
/// let sum = AnyCiphertext::read(&frame, &params)?.with_claimed_shape().expand();
/// assert_eq!(Bfv::decode_slots(&params, &owner.decrypt(&sum))?[..2], [402, 401]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SwitchedSum<S: Managed> {
    key: KeyId,
    sum: Option<Ciphertext<S>>,
    /// The largest bounds of one switched ciphertext.
    largest: Noise,
    count: u64,
}

impl<S: Managed> SwitchedSum<S> {
    /// Returns the sum of no ciphertexts, to be under a key.
    #[must_use]
    pub fn new(key: KeyId) -> Self {
        Self { key, sum: None, largest: Noise { message: Log2::ZERO, error: Log2::ZERO }, count: 0 }
    }

    /// Returns the number of ciphertexts.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the key of the sum.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns the bytes of the sum in memory.
    #[must_use]
    pub fn bytes(&self, params: &Params<S>) -> u64 {
        self.sum.as_ref().map_or(0, |sum| sum.shape().bytes(params))
    }

    /// Switches a ciphertext to the key, unless it is under the key already, and adds it. Expands a compact one first.
    ///
    /// # Errors
    /// [`EvalError`] if `keys` are of another key, or lack the one that leads from the ciphertext's key; if the ciphertext has
    /// another level or scaling than the others; or if the noise bound passes the decryption limit.
    pub fn add(
        &mut self,
        input: Input<S>,
        evaluator: &Evaluator<S>,
        keys: &EvaluationKeys<S>,
        scratch: &mut Scratch,
    ) -> Result<(), EvalError> {
        if keys.key != self.key {
            return Err(EvalError::KeyMismatch { left: self.key, right: keys.key });
        }
        let given = input.expanded(evaluator, keys)?;
        let switched = match given.key() == self.key {
            true => given,
            false => evaluator.switch_key_with(&given, keys, scratch)?,
        };
        self.join(switched, 1, evaluator, scratch)
    }

    /// Adds a sum of other ciphertexts.
    ///
    /// # Errors
    /// [`EvalError`] if it is under another key, or has another level or scaling.
    pub fn add_sum(
        &mut self,
        other: Self,
        evaluator: &Evaluator<S>,
        scratch: &mut Scratch,
    ) -> Result<(), EvalError> {
        if other.key != self.key {
            return Err(EvalError::KeyMismatch { left: self.key, right: other.key });
        }
        let (largest, count) = (other.largest, other.count);
        match other.sum {
            Some(sum) => self.join(bounded(sum, largest), count, evaluator, scratch),
            None => Ok(()),
        }
    }

    /// Adds a sum of `count` ciphertexts whose shape has the bounds of the noisiest.
    fn join(
        &mut self,
        added: Ciphertext<S>,
        count: u64,
        evaluator: &Evaluator<S>,
        scratch: &mut Scratch,
    ) -> Result<(), EvalError> {
        let noise = added.shape().noise;
        match &mut self.sum {
            None => self.sum = Some(evaluator.fitted(added, scratch)),
            Some(sum) => {
                evaluator.add_assign(sum, &added, scratch)?;
                evaluator.recycle(added, scratch);
                let params = evaluator.params();
                scratch.keep_at_most(SPARE * params.limbs(params.top_level()).len() * params.degree());
            }
        }
        self.largest = Noise {
            message: self.largest.message.max(noise.message),
            error: self.largest.error.max(noise.error),
        };
        self.count = self.count.saturating_add(count);
        Ok(())
    }

    /// Returns the frame of the sum; None without a ciphertext.
    ///
    /// # Errors
    /// [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn frame(&self, params: &Params<S>) -> Result<Option<Vec<u8>>, EvalError> {
        let Some(sum) = &self.sum else { return Ok(None) };
        let times = i64::try_from(self.count).unwrap_or(i64::MAX);
        let shape = shape(sum, self.largest).multiply_scalar(params, times)?;
        Ok(Some(written(sum, shape)))
    }

    /// Returns a frame from which [`SwitchedSum::read`] makes the sum again: its bounds are those of the noisiest ciphertext.
    /// None without a ciphertext.
    #[must_use]
    pub fn state(&self) -> Option<Vec<u8>> {
        self.sum.as_ref().map(|sum| written(sum, shape(sum, self.largest)))
    }

    /// Reads the state of a sum of `count` ciphertexts.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are no frame of a ciphertext of these parameters.
    pub fn read(state: &[u8], count: u64, params: &Params<S>) -> Result<Self, WireError> {
        let sum = AnyCiphertext::read(state, params)?.with_claimed_shape().expand();
        Ok(Self { key: sum.key(), largest: sum.shape().noise, sum: Some(sum), count })
    }
}

fn shape<S: Managed>(of: &Ciphertext<S>, noise: Noise) -> Shape<S> {
    let shape = of.shape();
    Shape::bounded(shape.level, shape.components, shape.scaling, noise)
}

fn bounded<S: Managed>(sum: Ciphertext<S>, noise: Noise) -> Ciphertext<S> {
    if sum.shape().noise == noise {
        return sum;
    }
    let shape = shape(&sum, noise);
    Ciphertext::from_parts(sum.params(), sum.key(), shape, sum.components().iter().cloned())
}

fn written<S: Managed>(sum: &Ciphertext<S>, shape: Shape<S>) -> Vec<u8> {
    let components = sum.components().iter().cloned();
    AnyCiphertext::Expanded(Ciphertext::from_parts(sum.params(), sum.key(), shape, components)).write()
}
