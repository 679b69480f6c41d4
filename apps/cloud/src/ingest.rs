//! Takes an envelope in: nothing of it is kept before everything about it holds.

use axum::http::StatusCode;
use sotto_wire::{Envelope, WireError, message_digest, stream_tag};

use crate::cloud::Cloud;
use crate::enrolments;
use crate::problem::Problem;
use crate::store::{Device, Kept, Receipt, Upload};

/// Checks an upload and stores it durably; an upload that is there already is not stored again.
pub(crate) fn ingest(cloud: &Cloud, idempotency_key: &str, bytes: &[u8]) -> Result<Receipt, Problem> {
    let envelope = read(cloud, idempotency_key, bytes)?;
    let header = &envelope.header;
    if idempotency_key != header.upload_key() {
        let detail = format!("the idempotency key of this envelope is {}", header.upload_key());
        return Err(Problem::unprocessable("idempotency-key-mismatch", detail));
    }
    known(cloud, &header.device, |device| {
        envelope.verify(&device.verifying_key)?;
        registered_key(device, &envelope)
    })?;
    let upload = Upload { envelope: &envelope, idempotency_key, bytes, digest: message_digest(bytes)? };
    if i64::try_from(envelope.header.sequence).is_err() {
        return Err(Problem::unprocessable("invalid-value", "a sequence number is below 2^63"));
    }
    let kept = match cloud.store.earlier(&upload)? {
        Some(earlier) => earlier,
        None => {
            cloud.quotas.admit(cloud, &header.device, bytes.len() as u64)?;
            cloud.engine(header.parameters)?.check_ciphertext(&envelope.body)?;
            let kept = cloud.store.keep_envelope(&upload)?;
            if matches!(kept, Kept::New(_)) {
                cloud.quotas.stored(&header.device, bytes.len() as u64);
            }
            kept
        }
    };
    if matches!(kept, Kept::MaskRepeated) {
        cloud.store.note_repeated_mask(&header.device)?;
        let (device, stream, sequence) = (&header.device, &header.stream, header.sequence);
        tracing::error!(device, stream, sequence, "another window has this one's mask: it is not stored");
    }
    receipt(kept, &envelope)
}

/// Reads an envelope. The header of its stream may have been there for a moment only: then enrolments are looked at again.
fn read(cloud: &Cloud, idempotency_key: &str, bytes: &[u8]) -> Result<Envelope, Problem> {
    let Some(tag) = stream_tag(bytes)? else {
        return Ok(Envelope::read(bytes, cloud.config.largest_upload)?);
    };
    let stream = match cloud.store.stream(tag)? {
        Some(stream) => stream,
        None => {
            // Of a device with a dot in its name the whole folder is read, once a second.
            let device = idempotency_key.split('.').next().unwrap_or_default();
            enrolments::look_again(cloud, device);
            cloud.store.stream(tag)?.ok_or(WireError::UnknownStream(tag))?
        }
    };
    Ok(Envelope::read_window(bytes, &stream)?)
}

/// Checks a device's message against its registration. If that refuses, enrolments are looked at again: it may have been there for
/// a moment only.
pub(crate) fn known(
    cloud: &Cloud,
    name: &str,
    check: impl Fn(&Device) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let applied = cloud.enrolments.applied();
    let admit = || check(&known_device(cloud, name)?);
    admit().or_else(|problem| {
        if problem.status.is_client_error() {
            enrolments::look_again(cloud, name);
        }
        if cloud.enrolments.applied() == applied { Err(problem) } else { admit() }
    })
}

fn known_device(cloud: &Cloud, name: &str) -> Result<Device, Problem> {
    let device = cloud.store.device(name)?;
    let unknown = || {
        // The same whether `enrolments` is set or not, and without its path: anybody may read this.
        let detail = format!(
            "no device {name} is registered here; its owner: run `sotto status`, or put its enrolment into the folder \
             `enrolments` of the cloud's configuration"
        );
        Problem::forbidden("unknown-device", detail)
    };
    let device = device.ok_or_else(unknown)?;
    if device.revoked { Err(revoked(name)) } else { Ok(device) }
}

fn revoked(name: &str) -> Problem {
    Problem::forbidden("device-revoked", format!("device {name} is revoked: its uploads are refused"))
}

fn registered_key(device: &Device, envelope: &Envelope) -> Result<(), Problem> {
    let (name, parameters, key) = (&envelope.header.device, envelope.header.parameters, envelope.header.key);
    if device.keys.contains(&(parameters, key)) {
        return Ok(());
    }
    Err(if device.keys.iter().any(|(registered, _)| *registered == parameters) {
        let detail = format!("key {key} is not registered for device {name} and parameters {parameters}");
        Problem::unprocessable("wrong-key", detail)
    } else {
        let detail = format!("parameters {parameters} are not registered for device {name}");
        Problem::unprocessable("wrong-parameters", detail)
    })
}

fn receipt(kept: Kept, envelope: &Envelope) -> Result<Receipt, Problem> {
    let header = &envelope.header;
    match kept {
        Kept::New(receipt) => {
            tracing::info!(
                device = header.device,
                stream = header.stream,
                sequence = header.sequence,
                "stored"
            );
            Ok(receipt)
        }
        Kept::Duplicate(receipt) => Ok(receipt),
        Kept::KeyReused => Err(Problem::conflict(
            "idempotency-key-reused",
            "this idempotency key came with another body before: take a new key for a new body",
        )),
        Kept::SequenceTaken => {
            let (stream, sequence) = (&header.stream, header.sequence);
            let detail = format!("number {sequence} of stream {stream} is there already, with another body");
            Err(Problem::conflict("sequence-taken", detail))
        }
        Kept::MaskRepeated => {
            let detail = "another window was encrypted under the same mask, and both together show their difference: this one is not \
                          stored. The device runs twice from one copy of its memory, or is damaged; its owner sees it in `sotto status`";
            Err(Problem::conflict("mask-repeated", detail))
        }
        Kept::Forgotten => {
            let detail = "the owner has deleted the windows of this time: they are not stored again";
            Err(Problem::new(StatusCode::GONE, "forgotten", detail))
        }
        Kept::NoLongerAccepted => Err(revoked(&header.device)),
    }
}
