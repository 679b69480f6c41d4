//! The device's keys for one set of parameters.

use sotto_keys::{DeviceKeys, DeviceSecret};
use sotto_rlwe::{ParameterId, Params, PublicKey, Scheme};
use sotto_wire::{WireError, read_public_key};

/// Reason why a device's keys do not encrypt a stream. Contains no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The bundle has public keys, and the stream's windows are encrypted under the secret.
    #[error(
        "its windows need the device's secret, and the bundle has public keys alone: make a new bundle with `sotto device renew`"
    )]
    NoSecret,
    /// The stream is of a device with public keys, and the bundle has the device's secret.
    #[error(
        "its windows need a public key, and the bundle has the device's secret: make a new bundle with `sotto device renew`"
    )]
    NotPublic,
    /// No public key has these parameters.
    #[error("the bundle has no public key for parameters {0}: make a new bundle with `sotto device renew`")]
    NoPublicKey(ParameterId),
    /// A public key is damaged.
    #[error("a public key of the bundle cannot be used: {0}; make a new bundle with `sotto device renew`")]
    PublicKey(#[from] WireError),
}

/// Returns the device's secret.
///
/// # Errors
/// [`KeyError::NoSecret`] for a device with public keys.
pub(super) fn secret(keys: &DeviceKeys) -> Result<&DeviceSecret, KeyError> {
    match keys {
        DeviceKeys::Secret(secret) => Ok(secret),
        DeviceKeys::Public(_) => Err(KeyError::NoSecret),
    }
}

/// Returns the first public key with these parameters.
///
/// # Errors
/// [`KeyError`] if there is none, or one is damaged.
pub(super) fn public<S: Scheme>(keys: &DeviceKeys, params: &Params<S>) -> Result<PublicKey<S>, KeyError> {
    let DeviceKeys::Public(frames) = keys else { return Err(KeyError::NotPublic) };
    for frame in frames {
        match read_public_key(frame, params) {
            // The key of another stream, possibly longer than these parameters allow.
            Err(WireError::Parameters { .. } | WireError::TooLarge { .. }) => {}
            read => return Ok(read?),
        }
    }
    Err(KeyError::NoPublicKey(params.id()))
}
