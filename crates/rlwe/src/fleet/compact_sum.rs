//! Sums of compact ciphertexts under one mask.

use super::{KeySum, TransferSum};
use crate::compact::Compact;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// A sum of [`Compact`] ciphertexts of different keys under one seed: an encryption of the sum of their messages under the sum of their secrets.
///
/// Every device encrypts under the same seed, and under each seed once: two bodies of one device under one seed show the difference of their
/// messages. Nobody holds the sum of the secrets; [`Evaluator::expand_sum`](crate::Evaluator::expand_sum) brings the sum to the owner's key.
#[derive(Clone, Debug)]
pub struct CompactSum<S: Scheme> {
    sum: Compact<S>,
    keys: KeySum,
}

impl<S: Scheme> CompactSum<S> {
    /// The sum of one ciphertext.
    #[must_use]
    pub fn new(first: Compact<S>) -> Self {
        let keys = [first.key()].into_iter().collect();
        Self { sum: first, keys }
    }

    /// Adds another device's ciphertext, place by place. O(places) for each limb, without a key.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`], [`EvalError::KeptMismatch`], [`EvalError::SeedMismatch`], [`EvalError::LevelMismatch`] and
    /// [`EvalError::ScalingMismatch`] where the two differ; [`EvalError::RepeatedKey`] for a device that is in the sum; [`EvalError::Noise`] where
    /// the parameters do not bear the sum. Nothing is added then.
    pub fn add(&mut self, other: &Compact<S>) -> Result<(), EvalError> {
        if self.keys.contains(other.key()) {
            return Err(EvalError::RepeatedKey { key: other.key() });
        }
        self.sum.add_assign(other)?;
        self.keys.insert(other.key());
        Ok(())
    }

    /// The keys of the devices that are in the sum.
    #[must_use]
    pub fn keys(&self) -> &KeySum {
        &self.keys
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &Params<S> {
        self.sum.params()
    }

    /// The shape of the sum under the sum of the secrets, before it is switched.
    #[must_use]
    pub fn shape(&self) -> &Shape<S> {
        self.sum.shape()
    }

    /// The sum as one compact ciphertext, under the key that is [named](KeySum::id) after its devices.
    #[must_use]
    pub fn to_compact(&self) -> Compact<S> {
        let mut sum = self.sum.clone();
        sum.key = self.keys.id().unwrap_or(sum.key);
        sum
    }

    /// The places that were added; their key is that of the first device.
    pub(crate) fn places(&self) -> &Compact<S> {
        &self.sum
    }

    /// Returns the shape that [`Evaluator::expand_sum`](crate::Evaluator::expand_sum) gives the sum with these keys. Nothing is computed.
    ///
    /// # Errors
    /// Those of [`Evaluator::expand_sum`](crate::Evaluator::expand_sum).
    pub fn expandable(
        &self,
        transfer: &TransferSum<S>,
        keys: &EvaluationKeys<S>,
    ) -> Result<Shape<S>, EvalError> {
        let params = self.sum.params();
        if transfer.params() != params || keys.params != *params {
            return Err(EvalError::ParameterMismatch);
        }
        if transfer.target() != keys.key {
            return Err(EvalError::KeyMismatch { left: transfer.target(), right: keys.key });
        }
        if let Some(key) = self.keys.difference(&transfer.keys()) {
            return Err(EvalError::NotInBothSums { key });
        }
        self.sum.expansion_keys(keys)?;
        self.shape().switch_key_sum(params, transfer.len())?.expanded(params, self.sum.kept())
    }
}
