//! Ciphertexts as inputs of a plan.

use sotto_ring::Scratch;
use sotto_rlwe::{Ciphertext, Compact, EvalError, EvaluationKeys, Evaluator, KeyId, Params, Shape};
use sotto_runtime::Managed;
use sotto_wire::{AnyCiphertext, Body, EvaluationKeyCounts, WireError};

/// Maximum numbers of keys in one stored set of evaluation keys.
pub const MOST_KEYS: EvaluationKeyCounts =
    EvaluationKeyCounts { relinearisation: true, galois: 64, transfers: 64 };

/// A stored ciphertext. It is expanded before a plan reads it.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../rlwe/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_evaluate::Input;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, Evaluator, Params, Scheme};
/// # use sotto_wire::{AnyCiphertext, Body};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let owner = Owner::new(&params, 1);
/// # let keys = owner.evaluation_keys(&[]);
/// # let plaintext = Bfv::encode_slots(&params, &[215], params.top_level())?;
/// # let reading = owner.public_key().encrypt(&plaintext, &mut secure_rng()?)?;
/// let frame = AnyCiphertext::Expanded(reading).write();
/// let body = Body::read(frame, 1 << 20)?;
/// let (key, shape) = Input::shape(&params, &body, &keys)??;
/// assert_eq!((key, shape.level), (keys.key, params.top_level()));
/// let input = Input::of(&params, &body)?.expanded(&Evaluator::new(&params), &keys)?;
/// assert_eq!(*input.shape(), shape);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Input<S: Managed> {
    /// All coefficients.
    Whole(AnyCiphertext<S>),
    /// Some of the coefficients.
    Compact(Compact<S>),
}

impl<S: Managed> Input<S> {
    /// Reads an envelope's ciphertext and checks its length, its shape and every residue.
    ///
    /// # Errors
    /// [`WireError`] if it is not a ciphertext of these parameters.
    pub fn of(params: &Params<S>, body: &Body) -> Result<Self, WireError> {
        Ok(match body.compact_slots(params)? {
            Some(compact) => Self::Compact(compact.with_claimed_shape()),
            None => Self::Whole(body.ciphertext(params)?.with_claimed_shape()),
        })
    }

    /// Returns the key of an envelope's ciphertext, and its shape after expansion. Computes nothing, and reads no
    /// residues of a whole ciphertext.
    ///
    /// # Errors
    /// [`WireError`] if it is not a ciphertext of these parameters; the inner [`EvalError`] if these keys cannot expand
    /// it.
    pub fn shape(
        params: &Params<S>,
        body: &Body,
        keys: &EvaluationKeys<S>,
    ) -> Result<Result<(KeyId, Shape<S>), EvalError>, WireError> {
        if let Some(shape) = body.claimed_shape(params)? {
            return Ok(Ok((body.key(), shape)));
        }
        Ok(match Self::of(params, body)? {
            Self::Whole(whole) => Ok((body.key(), *whole.expand().shape())),
            Self::Compact(compact) => compact.expandable(keys).map(|shape| (body.key(), shape)),
        })
    }

    /// Expands the ciphertext.
    ///
    /// # Errors
    /// [`EvalError`] if these keys cannot expand the ciphertext.
    pub fn expanded(
        self,
        evaluator: &Evaluator<S>,
        keys: &EvaluationKeys<S>,
    ) -> Result<Ciphertext<S>, EvalError> {
        match self {
            Self::Whole(whole) => Ok(whole.expand()),
            Self::Compact(compact) => evaluator.expand(&compact, keys, &mut Scratch::new()),
        }
    }
}
