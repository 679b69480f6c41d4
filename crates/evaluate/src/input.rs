//! Ciphertexts that a plan takes.

use sotto_ring::Scratch;
use sotto_rlwe::{Ciphertext, Compact, EvalError, EvaluationKeys, Evaluator, KeyId, Params, Shape};
use sotto_runtime::Managed;
use sotto_wire::{AnyCiphertext, Kind, SlotsWindow, WireError};

/// A ciphertext as it is stored. A plan takes it once it is expanded.
pub enum Input<S: Managed> {
    /// Of all coefficients.
    Whole(AnyCiphertext<S>),
    /// Of some coefficients.
    Compact(Compact<S>),
}

impl<S: Managed> Input<S> {
    /// Reads a frame fully: its length, its shape, every residue.
    ///
    /// # Errors
    /// [`WireError`] for bytes that are no ciphertext of these parameters.
    pub fn read(params: &Params<S>, frame: &[u8]) -> Result<Self, WireError> {
        Ok(match sotto_wire::frame_kind(frame)? {
            Kind::CompactSlots => {
                Self::Compact(sotto_wire::read_compact(frame, params)?.with_claimed_shape())
            }
            Kind::SlotsWindow => Self::Compact(SlotsWindow::read(frame)?.compact(params)?),
            _ => Self::Whole(AnyCiphertext::read(frame, params)?.with_claimed_shape()),
        })
    }

    /// Returns its key, and its shape once it is expanded. Computes nothing.
    ///
    /// # Errors
    /// [`EvalError`] where these keys do not expand it.
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

    /// Expands it.
    ///
    /// # Errors
    /// As [`Input::checked`].
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
