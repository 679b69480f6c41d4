//! The public keys of a device that shall not read what it sends.

use sotto_keys::{DeviceSecret, SecretKey};
use sotto_pack::StreamProfile;
use sotto_ring::SecretRng;
use sotto_rlwe::{Bfv, Bgv, Ckks, ParameterSpec, Params, Scheme, SchemeId};

use crate::device::parameter_spec;
use crate::error::OwnerError;

/// Returns the frames of the public keys of streams: one for each set of parameters. The secrets that decrypt derive from
/// the device's secret, which stays with the owner.
///
/// # Errors
/// [`OwnerError::NoParameters`] if a stream's parameters cannot be read.
pub(crate) fn public_keys(
    secret: &DeviceSecret,
    streams: &[StreamProfile],
    rng: &mut impl SecretRng,
) -> Result<Vec<Vec<u8>>, OwnerError> {
    let mut parameters: Vec<&String> = streams.iter().map(|stream| &stream.parameters).collect();
    parameters.sort_unstable();
    parameters.dedup();
    let key = |frame: &String| {
        let spec = parameter_spec(frame)?;
        match spec.scheme {
            SchemeId::Bfv => public_key::<Bfv>(secret, spec, rng),
            SchemeId::Bgv => public_key::<Bgv>(secret, spec, rng),
            SchemeId::Ckks => public_key::<Ckks>(secret, spec, rng),
        }
    };
    parameters.into_iter().map(key).collect()
}

fn public_key<S: Scheme>(
    secret: &DeviceSecret,
    spec: ParameterSpec,
    rng: &mut impl SecretRng,
) -> Result<Vec<u8>, OwnerError> {
    let params = Params::<S>::new(spec).map_err(|error| OwnerError::NoParameters(error.to_string()))?;
    Ok(sotto_wire::write_public_key(&SecretKey::derive(secret, &params).public_key(rng)))
}
