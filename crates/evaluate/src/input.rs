//! Ciphertexts as inputs of a plan.

use sotto_ring::Scratch;
use sotto_rlwe::{Ciphertext, Compact, EvalError, EvaluationKeys, Evaluator, KeyId, Params, Shape};
use sotto_runtime::Managed;
use sotto_wire::{AnyCiphertext, Kind, SlotsWindow, WireError};

/// A stored ciphertext. It is expanded before a plan reads it.
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
