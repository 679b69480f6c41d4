//! Sums of switching keys to one secret.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::Poly;

use super::KeySum;
use crate::error::EvalError;
use crate::evaluation_key::{EvaluationKeys, KeySwitchKey};
use crate::noise::{Log2, Typical, key_switch_sum};
use crate::parameters::{KeyId, Params};
use crate::scheme::Scheme;
use crate::shape::Shape;

/// BLAKE3 of a switching key's bodies and masks.
type Digest = [u8; 32];

/// The sum of the transfer keys of a fleet's devices: it switches from the sum of their secrets to the owner's.
///
/// The sum is incremental: a device that joins or leaves costs one addition or subtraction of its key. The bits depend
/// only on the devices in the sum, not on their order or on former members. Memory: one switching key with its masks,
/// and 48 bytes a device.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_rlwe::{Bfv, EvalError, Params, TransferSum};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let (boiler, owner) = (Owner::new(&params, 1), Owner::new(&params, 3));
/// # let mut keys = owner.evaluation_keys(&[]);
/// # keys.transfers.insert(boiler.id, owner.transfer_key(&boiler));
/// let mut transfer = TransferSum::new(&params, owner.id)?;
/// transfer.add(boiler.id, &keys)?;
/// assert_eq!(transfer.add(boiler.id, &keys), Err(EvalError::RepeatedKey { key: boiler.id }));
/// // The boiler leaves the fleet.
/// transfer.remove(boiler.id, &keys)?;
/// assert!(transfer.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TransferSum<S: Scheme> {
    params: Params<S>,
    target: KeyId,
    sum: KeySwitchKey,
    devices: BTreeMap<KeyId, Digest>,
}

impl<S: Scheme> TransferSum<S> {
    /// Starts a sum without keys, to the secret key `target`.
    ///
    /// # Errors
    /// [`EvalError::NoSpecialPrime`] if the parameters cannot switch keys.
    pub fn new(params: &Params<S>, target: KeyId) -> Result<Self, EvalError> {
        params.require_special_primes()?;
        let sum = KeySwitchKey::zero(params);
        Ok(Self { params: params.clone(), target, sum, devices: BTreeMap::new() })
    }

    /// Adds the transfer key from a device's key, which must be one of `keys`.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`] and [`EvalError::KeyMismatch`] for keys of other parameters or to another
    /// secret; [`EvalError::MissingKey`] if the key is not among them; [`EvalError::RepeatedKey`] for a device that is
    /// already in the sum.
    pub fn add(&mut self, device: KeyId, keys: &EvaluationKeys<S>) -> Result<(), EvalError> {
        let key = self.transfer_key(device, keys)?;
        if self.devices.contains_key(&device) {
            return Err(EvalError::RepeatedKey { key: device });
        }
        self.sum.each_with(key, Poly::add_assign);
        self.devices.insert(device, digest(key));
        Ok(())
    }

    /// Subtracts a device's transfer key. The bits are then as if it had never been added.
    ///
    /// # Errors
    /// As [`TransferSum::add`]; [`EvalError::NotInSum`] for a device that is not in the sum,
    /// [`EvalError::OtherTransferKey`] if the key is not the one that was added.
    pub fn remove(&mut self, device: KeyId, keys: &EvaluationKeys<S>) -> Result<(), EvalError> {
        let key = self.transfer_key(device, keys)?;
        let added = self.devices.get(&device).ok_or(EvalError::NotInSum { key: device })?;
        if *added != digest(key) {
            return Err(EvalError::OtherTransferKey { key: device });
        }
        self.sum.each_with(key, Poly::subtract_assign);
        self.devices.remove(&device);
        Ok(())
    }

    fn transfer_key<'k>(
        &self,
        device: KeyId,
        keys: &'k EvaluationKeys<S>,
    ) -> Result<&'k KeySwitchKey, EvalError> {
        if keys.params != self.params {
            return Err(EvalError::ParameterMismatch);
        }
        if keys.key != self.target {
            return Err(EvalError::KeyMismatch { left: self.target, right: keys.key });
        }
        let missing = || EvalError::missing_transfer_key(device, keys.key);
        keys.transfers.get(&device).ok_or_else(missing)
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// Returns the secret key to which the sum switches.
    #[must_use]
    pub fn target(&self) -> KeyId {
        self.target
    }

    /// Returns the keys of the devices in the sum.
    #[must_use]
    pub fn keys(&self) -> KeySum {
        self.devices.keys().copied().collect()
    }

    /// Returns the number of devices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.devices.len()
    }

    /// Returns true if no device is in the sum.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Returns the key that switches from the sum of the secrets.
    #[must_use]
    pub fn key(&self) -> &KeySwitchKey {
        &self.sum
    }
}

fn digest(key: &KeySwitchKey) -> Digest {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = Vec::new();
    for poly in key.bodies().iter().chain(key.masks()) {
        for limb in poly.limbs() {
            bytes.clear();
            bytes.extend(poly.limb(limb).iter().flat_map(|residue| residue.to_le_bytes()));
            hasher.update(&bytes);
        }
    }
    *hasher.finalize().as_bytes()
}

impl<S: Scheme> Shape<S> {
    /// Returns the shape after a switch by the sum of `count` switching keys: their errors add up, with one rounding.
    ///
    /// # Errors
    /// [`EvalError::Components`] unless there are two; [`EvalError::NoSpecialPrime`]; [`EvalError::Noise`] if the noise
    /// bound passes the decryption limit.
    pub fn switch_key_sum(&self, params: &Params<S>, count: usize) -> Result<Self, EvalError> {
        params.require_special_primes()?;
        if self.components != 2 {
            return Err(EvalError::Components { components: self.components });
        }
        let count = count as f64;
        let (mut noise, mut estimate) = (self.noise, self.estimate);
        let bound = key_switch_sum::<Log2, S>(params, self.level, Log2::of(count));
        noise.error = noise.error + bound;
        let typical = key_switch_sum::<Typical, S>(params, self.level, Log2::of(count.sqrt()));
        estimate.error = estimate.error + typical;
        Self { noise, estimate, ..*self }.checked(params)
    }
}
