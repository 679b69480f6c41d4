//! Registers devices and parameters: by the owner's requests, and from the files of the enrolment folder.

use std::collections::HashSet;

use sotto_api::devices::Registration;
use sotto_api::reason;
use sotto_rlwe::{KeyId, ParameterId, SchemeId};
use sotto_wire::{LARGEST_STREAM_HEADER, StreamHeader};

use crate::cloud::Cloud;
use crate::id::from_hex;
use crate::problem::Problem;
use crate::registry::AnyParams;
use crate::store::{NewDevice, Registering, Source};

/// Maximum number of pairs of parameters and key of a registration.
pub(crate) const MOST_KEYS: usize = 256;
/// Maximum number of streams of a registration.
const MOST_STREAMS: usize = 4096;
/// Maximum bytes of a sealed record: 64 KiB.
const LARGEST_RECORD: usize = 64 << 10;
/// Maximum bytes of a frame of parameters.
pub(crate) const LARGEST_PARAMETERS: u64 = 4096;

/// Checks and stores the parameters of a frame. Skips the check if they are already stored.
pub(crate) fn parameters(cloud: &Cloud, frame: &[u8]) -> Result<(ParameterId, SchemeId), Problem> {
    let spec = sotto_wire::read_parameters(frame)?;
    let (id, scheme) = (spec.id(), spec.scheme);
    if cloud.store.parameters(id)?.is_none() {
        AnyParams::new(spec).map_err(sotto_wire::WireError::from)?;
        cloud.store.keep_parameters(id, scheme, frame)?;
    }
    Ok((id, scheme))
}

/// Registers a device.
pub(crate) fn device(
    cloud: &Cloud,
    name: &str,
    registration: &Registration,
    source: Source<'_>,
) -> Result<Registering, Problem> {
    if !sotto_program::is_name(name) {
        return Err(Problem::unprocessable(reason::INVALID_NAME, "a name has 1 to 64 of A-Z a-z 0-9 _ . -"));
    }
    let verifying_key = from_hex(&registration.verifying_key).ok_or_else(|| not_hex("verifying_key", 64))?;
    if registration.keys.len() > MOST_KEYS {
        let detail = format!("a device has at most {MOST_KEYS} keys");
        return Err(Problem::unprocessable(reason::TOO_MANY_KEYS, detail));
    }
    let mut keys = Vec::with_capacity(registration.keys.len());
    for key in &registration.keys {
        let parameters = from_hex(&key.parameter_id).ok_or_else(|| not_hex("parameter_id", 64))?;
        let id = from_hex(&key.key_id).ok_or_else(|| not_hex("key_id", 32))?;
        keys.push((ParameterId(parameters), KeyId(id)));
    }
    if registration.streams.len() > MOST_STREAMS {
        let detail = format!("a device has at most {MOST_STREAMS} streams");
        return Err(Problem::unprocessable(reason::TOO_MANY_STREAMS, detail));
    }
    let streams = registration.streams.iter().map(|frame| stream(name, &keys, frame));
    let streams = streams.collect::<Result<Vec<_>, _>>()?;
    check_parameters(cloud, name, &keys, &streams)?;
    let record = registration.record.as_deref().map(sealed_record).transpose()?;
    let device = NewDevice {
        name,
        verifying_key: &verifying_key,
        keys: &keys,
        streams: &streams,
        record: record.as_deref(),
        source,
    };
    Ok(cloud.store.register_device(&device)?)
}

/// Refuses unknown parameters. A key of a stream of sums names the stream's id instead; the stream is one of these, or was
/// registered before.
fn check_parameters(
    cloud: &Cloud,
    device: &str,
    keys: &[(ParameterId, KeyId)],
    streams: &[StreamHeader],
) -> Result<(), Problem> {
    let of_sums = |streams: &[StreamHeader]| -> HashSet<([u8; 32], [u8; 16])> {
        let sums = streams.iter().filter(|header| header.is_of_sums());
        sums.map(|header| (header.parameters().0, header.key().0)).collect()
    };
    let given = of_sums(streams);
    let left = keys.iter().filter(|(parameters, key)| !given.contains(&(parameters.0, key.0)));
    let mut before = None;
    for (parameters, key) in left {
        let Err(unknown) = cloud.params(*parameters) else { continue };
        let before = match &before {
            Some(before) => before,
            None => before.insert(of_sums(&cloud.store.streams_of(device)?)),
        };
        if !before.contains(&(parameters.0, key.0)) {
            return Err(unknown);
        }
    }
    Ok(())
}

/// Returns the bytes of a sealed record.
fn sealed_record(text: &str) -> Result<Vec<u8>, Problem> {
    if text.len() > 2 * LARGEST_RECORD {
        let detail = format!("a sealed record has at most {LARGEST_RECORD} bytes");
        return Err(Problem::unprocessable(reason::TOO_LARGE, detail));
    }
    hex::decode(text)
        .map_err(|_| Problem::unprocessable(reason::INVALID_VALUE, "a sealed record is hexadecimal"))
}

/// Reads the header of a stream, and checks that it names this device and one of these keys.
fn stream(device: &str, keys: &[(ParameterId, KeyId)], frame: &str) -> Result<StreamHeader, Problem> {
    if frame.len() as u64 > 2 * LARGEST_STREAM_HEADER {
        let detail = format!("the header of a stream has at most {LARGEST_STREAM_HEADER} bytes");
        return Err(Problem::unprocessable(reason::TOO_LARGE, detail));
    }
    let frame = hex::decode(frame).map_err(|_| {
        Problem::unprocessable(reason::INVALID_VALUE, "the header of a stream is hexadecimal")
    })?;
    let header = StreamHeader::read(&frame)?;
    let of_device = header.device() == device && keys.contains(&(header.parameters(), header.key()));
    if !of_device {
        let detail = "the header of a stream names another device, or a key that is not registered with it";
        return Err(Problem::unprocessable(reason::WRONG_STREAM, detail));
    }
    Ok(header)
}

fn not_hex(field: &str, digits: usize) -> Problem {
    Problem::unprocessable(
        reason::INVALID_VALUE,
        format!("{field} has {digits} lower-case hexadecimal digits"),
    )
}
