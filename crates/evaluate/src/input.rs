//! Ciphertexts as inputs of a plan.

use sotto_ring::Scratch;
use sotto_rlwe::{Ciphertext, Compact, EvalError, EvaluationKeys, Evaluator, KeyId, Params, Shape};
use sotto_runtime::Managed;
use sotto_wire::{AnyCiphertext, Kind, SlotsWindow, WireError};

/// A stored ciphertext. It is expanded before a plan reads it.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../rlwe/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_evaluate::Input;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, Evaluator, Params, Scheme};
/// # use sotto_wire::AnyCiphertext;
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let owner = Owner::new(&params, 1);
/// # let keys = owner.evaluation_keys(&[]);
/// # let plaintext = Bfv::encode_slots(&params, &[215], params.top_level())?;
/// # let reading = owner.public_key().encrypt(&plaintext, &mut secure_rng()?)?;
/// let frame = AnyCiphertext::Expanded(reading).write();
/// let (key, shape) = Input::read(&params, &frame)?.checked(&keys)?;
/// assert_eq!((key, shape.level), (keys.key, params.top_level()));
/// let input = Input::read(&params, &frame)?.expanded(&Evaluator::new(&params), &keys)?;
/// assert_eq!(*input.shape(), shape);
/// assert!(Input::read(&params, &frame[1..]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Input<S: Managed> {
    /// All coefficients.
    Whole(AnyCiphertext<S>),
    /// Some of the coefficients.
    Compact(Compact<S>),
}

impl<S: Managed> Input<S> {
    /// Reads a frame and checks its length, its shape and every residue.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a ciphertext of these parameters.
    pub fn read(params: &Params<S>, frame: &[u8]) -> Result<Self, WireError> {
        Ok(match sotto_wire::frame_kind(frame)? {
            Kind::CompactSlots => {
                Self::Compact(sotto_wire::read_compact(frame, params)?.with_claimed_shape())
            }
            Kind::SlotsWindow => Self::Compact(SlotsWindow::read(frame)?.compact(params)?),
            _ => Self::Whole(AnyCiphertext::read(frame, params)?.with_claimed_shape()),
        })
    }

    /// Returns the key, and the shape after expansion. Computes nothing.
    ///
    /// # Errors
    /// [`EvalError`] if these keys cannot expand the ciphertext.
    pub fn checked(self, keys: &EvaluationKeys<S>) -> Result<(KeyId, Shape<S>), EvalError> {
        match self {
            Self::Whole(AnyCiphertext::Seeded(seeded)) => Ok((seeded.key, seeded.shape)),
            Self::Whole(AnyCiphertext::Expanded(ciphertext)) => Ok((ciphertext.key(), *ciphertext.shape())),
            Self::Compact(compact) => {
                let shape = compact.expandable(keys)?;
                Ok((compact.key(), shape))
            }
        }
    }

    /// Expands the ciphertext.
    ///
    /// # Errors
    /// Those of [`Input::checked`].
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
