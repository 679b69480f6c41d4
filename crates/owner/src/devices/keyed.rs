//! The keys of streams, by their public names.

use sotto_keys::DeviceSecret;
use sotto_pack::{Period, StreamProfile};
use sotto_rlwe::{KeyId, ParameterId};
use sotto_sums::StreamKeys;
use sotto_wire::StreamHeader;

use super::records::spec_of;
use crate::error::OwnerError;

/// Returns the id of the parameters of a stream's ciphertexts; for a stream of sums its id, from which its keys are
/// derived. `device` is the device's name in the cloud.
pub(crate) fn parameter_id(device: &str, profile: &StreamProfile) -> Result<ParameterId, OwnerError> {
    match spec_of(profile)? {
        Some(spec) => Ok(spec.id()),
        None => Ok(sums_header(device, profile, |_| KeyId([0; 16]))?.parameters()),
    }
}

/// Returns the name of the key under which a device encrypts a stream with this id.
pub(super) fn key_id(secret: &DeviceSecret, profile: &StreamProfile, id: &ParameterId) -> KeyId {
    if profile.sums.is_empty() { secret.key_id(id) } else { sums_key_id(secret, &id.0) }
}

/// Returns the name of the keys of a stream of sums with this id.
pub(super) fn sums_key_id(secret: &DeviceSecret, stream_id: &[u8; 32]) -> KeyId {
    KeyId(StreamKeys::derive(secret.expose_secret_bytes(), stream_id).id())
}

/// Returns the header of a stream; None if its windows are whole ciphertexts, or places, which the cloud takes no more.
pub(super) fn stream_header(
    device: &str,
    secret: &DeviceSecret,
    profile: &StreamProfile,
) -> Result<Option<StreamHeader>, OwnerError> {
    let Some(spec) = spec_of(profile)? else {
        return sums_header(device, profile, |id| sums_key_id(secret, id)).map(Some);
    };
    if profile.compact.is_some() {
        return Ok(None);
    }
    let id = spec.id();
    StreamHeader::of_profile(device, Period::from_milliseconds(1), profile, id, secret.key_id(&id))
        .map_err(|error| refused(profile, &error))
}

fn sums_header(
    device: &str,
    profile: &StreamProfile,
    key: impl FnOnce(&[u8; 32]) -> KeyId,
) -> Result<StreamHeader, OwnerError> {
    let header = StreamHeader::of_sums_profile(device, Period::from_milliseconds(1), profile, key);
    let header = header.map_err(|error| refused(profile, &error))?;
    header.ok_or_else(|| OwnerError::NoParameters(format!("stream {}: it has no parts", profile.stream)))
}

fn refused(profile: &StreamProfile, error: &sotto_wire::WireError) -> OwnerError {
    OwnerError::NoParameters(format!("stream {}: {error}", profile.stream))
}
