//! Sums of compact ciphertexts under one mask.

use super::{KeySum, TransferSum};
use crate::compact::Compact;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// A sum of [`Compact`] ciphertexts of different keys under one seed: an encryption of the sum of their messages under
/// the sum of their secrets.
///
/// All devices encrypt under the same seed, and each under a given seed only once: two bodies of one device under one
/// seed reveal the difference of their messages. Nobody holds the sum of the secrets;
/// [`Evaluator::expand_sum`](crate::Evaluator::expand_sum) brings the sum to the owner's key.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::{Scratch, Seed};
/// # use sotto_rlwe::{Bfv, CompactSum, Evaluator, Kept, Params, TransferSum};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let (boiler, pump, owner) = (Owner::new(&params, 1), Owner::new(&params, 2), Owner::new(&params, 3));
/// # let (kept, seed) = (Kept::Folded(2), Seed([3; 24]));
/// # let mut keys = owner.evaluation_keys(&params.expansion_steps(kept)?);
/// # [&boiler, &pump].map(|device| keys.transfers.insert(device.id, owner.transfer_key(device)));
/// # let encrypt = |device: &Owner<Bfv>, values: &[i64]| {
/// #     let plaintext = params.encode_folded(values, 1.0, params.top_level())?;
/// #     Ok::<_, Box<dyn std::error::Error>>(device.encrypt(&plaintext, seed)?.compact(kept)?)
/// # };
/// // Each device has its own secret; all use the seed of this hour.
/// let mut sum = CompactSum::new(encrypt(&boiler, &[215, 198])?);
/// sum.add(&encrypt(&pump, &[187, 203])?)?;
/// assert!(sum.keys().contains(pump.id));
/// // One key switch brings the sum to the owner's key.
/// let mut transfer = TransferSum::new(&params, owner.id)?;
/// transfer.add(boiler.id, &keys)?;
/// transfer.add(pump.id, &keys)?;
/// let total = Evaluator::new(&params).expand_sum(&sum, &transfer, &keys, &mut Scratch::new())?;
/// assert_eq!(params.decode_repeated(&owner.decrypt(&total), 2)?, [402, 401]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompactSum<S: Scheme> {
    sum: Compact<S>,
    keys: KeySum,
}

impl<S: Scheme> CompactSum<S> {
    /// Starts a sum with one ciphertext.
    #[must_use]
    pub fn new(first: Compact<S>) -> Self {
        let keys = [first.key()].into_iter().collect();
        Self { sum: first, keys }
    }

    /// Adds another device's ciphertext, place by place, without a key. Cost: O(places) for each limb.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`], [`EvalError::KeptMismatch`], [`EvalError::SeedMismatch`],
    /// [`EvalError::LevelMismatch`] and [`EvalError::ScalingMismatch`] if the two differ; [`EvalError::RepeatedKey`]
    /// for a device that is already in the sum; [`EvalError::Noise`] if the noise bound passes the decryption limit.
    /// The sum is then unchanged.
    pub fn add(&mut self, other: &Compact<S>) -> Result<(), EvalError> {
        if self.keys.contains(other.key()) {
            return Err(EvalError::RepeatedKey { key: other.key() });
        }
        self.sum.add_assign(other)?;
        self.keys.insert(other.key());
        Ok(())
    }

    /// Returns the keys of the devices in the sum.
    #[must_use]
    pub fn keys(&self) -> &KeySum {
        &self.keys
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> &Params<S> {
        self.sum.params()
    }

    /// Returns the shape of the sum under the sum of the secrets, before the key switch.
    #[must_use]
    pub fn shape(&self) -> &Shape<S> {
        self.sum.shape()
    }

    /// Returns the sum as one compact ciphertext, under the [key id](KeySum::id) of its devices.
    #[must_use]
    pub fn to_compact(&self) -> Compact<S> {
        let mut sum = self.sum.clone();
        sum.key = self.keys.id().unwrap_or(sum.key);
        sum
    }

    /// Returns the added places; their key is that of the first device.
    pub(crate) fn places(&self) -> &Compact<S> {
        &self.sum
    }

    /// Returns the shape after [`Evaluator::expand_sum`](crate::Evaluator::expand_sum) with these keys, without
    /// computing.
    ///
    /// # Errors
    /// As [`Evaluator::expand_sum`](crate::Evaluator::expand_sum).
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
