//! The public keys of a device that cannot decrypt its own windows.

use std::collections::BTreeMap;

use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::SecretRng;
use sotto_rlwe::{ParameterSpec, Params, Scheme, with_scheme};

use crate::error::OwnerError;

/// Returns the frames of public keys, one for each set of parameters. The secret keys that decrypt derive from the
/// device's secret, which stays with the owner.
///
/// # Errors
/// [`OwnerError::NoParameters`] if parameters are refused.
pub(crate) fn public_keys<'s>(
    secret: &DeviceSecret,
    specs: impl Iterator<Item = &'s ParameterSpec>,
    rng: &mut impl SecretRng,
) -> Result<Vec<Vec<u8>>, OwnerError> {
    let distinct: BTreeMap<[u8; 32], &ParameterSpec> = specs.map(|spec| (spec.id().0, spec)).collect();
    let key = |spec: &ParameterSpec| with_scheme!(spec.scheme, S => public_key::<S>(secret, spec, rng));
    distinct.into_values().map(key).collect()
}

fn public_key<S: Scheme>(
    secret: &DeviceSecret,
    spec: &ParameterSpec,
    rng: &mut impl SecretRng,
) -> Result<Vec<u8>, OwnerError> {
    let params =
        Params::<S>::new(spec.clone()).map_err(|error| OwnerError::NoParameters(error.to_string()))?;
    Ok(sotto_wire::write_public_key(&SecretKey::derive(secret, &params).public_key(rng)))
}
