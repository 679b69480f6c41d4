//! Accepts envelopes. Nothing is stored unless every check succeeds.

#[cfg(all(test, feature = "counts"))]
mod cost;
mod group;

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::StatusCode;
use sotto_api::reason;
use sotto_api::uploads::{Receipt, Receipts};
use sotto_wire::{
    Envelope, EnvelopeHeader, SignedHeader, StreamHeader, WindowGroup, WireError, is_group, message_digest,
    stream_tag,
};

use crate::cloud::Cloud;
use crate::enrolments;
use crate::problem::Problem;
use crate::quotas::Piece;
use crate::store::{Device, EarlierUpload, TakenTick, Upload};

/// Checks an upload, an envelope or a group, and stores it durably. An envelope that is already stored is not stored
/// again.
pub(crate) fn ingest(cloud: &Cloud, idempotency_key: &str, bytes: &[u8]) -> Result<Receipts, Problem> {
    if is_group(bytes) {
        let stream = stream(cloud, idempotency_key, bytes)?.ok_or(WireError::Magic)?;
        let group = WindowGroup::read(bytes, &stream)?;
        return group::ingest(cloud, idempotency_key, &group).map(Receipts::Group);
    }
    let envelope = match stream(cloud, idempotency_key, bytes)? {
        Some(stream) => Envelope::read_window(bytes, &stream)?,
        None => Envelope::read(bytes, cloud.config.largest_upload)?,
    };
    named(idempotency_key, &envelope.header().upload_key())?;
    let device = known(
        cloud,
        &envelope.header().device,
        |key| envelope.verify(key),
        |device| registered_key(device, &envelope),
    )?;
    let digest = message_digest(bytes)?;
    let bytes = Cow::Borrowed(bytes);
    let upload = Upload { envelope: &envelope, idempotency_key, bytes, digest, receipt_digest: digest };
    let mut receipts =
        keep(cloud, &[upload], &device.verifying_key).map_err(|(_, problem)| problem.of_known())?;
    receipts.pop().map(Receipts::Window).ok_or_else(Problem::internal)
}

/// Stores the uploads of one device (at least one), whose signatures were checked with this key: all or none. On refusal
/// returns the index of the refused upload and the reason.
fn keep(
    cloud: &Cloud,
    uploads: &[Upload<'_>],
    verifying_key: &[u8; 32],
) -> Result<Vec<Receipt>, (usize, Problem)> {
    let at = |index: usize| move |problem: Problem| (index, problem);
    let (mut receipts, mut new) = (Vec::with_capacity(uploads.len()), Vec::new());
    let checked_at = cloud.store.changes();
    for (index, upload) in uploads.iter().enumerate() {
        let sequence = upload.envelope.header().sequence;
        if i64::try_from(sequence).is_err() {
            let problem =
                Problem::unprocessable(reason::INVALID_VALUE, "a sequence number must be below 2^63");
            return Err((index, problem));
        }
        match cloud.store.earlier(upload).map_err(|error| (index, error.into()))? {
            Some(kept) => receipts.push(Some(receipt(cloud, kept, upload).map_err(at(index))?)),
            None => {
                receipts.push(None);
                new.push(index);
            }
        }
    }
    let Some(first) = new.first().copied() else { return Ok(receipts.into_iter().flatten().collect()) };
    let device = &uploads[first].envelope.header().device;
    let bytes = new.iter().map(|index| uploads[*index].counted_bytes()).sum();
    let pieces: Vec<Option<Piece>> =
        new.iter().map(|index| Piece::of(uploads[*index].envelope.signed_header())).collect();
    cloud.quotas.admit(&cloud.store, device, bytes, &pieces).map_err(at(first))?;
    for index in &new {
        let body = uploads[*index].envelope.body();
        if body.is_of_sums() {
            // Reading has checked its parts; there are no parameters.
            continue;
        }
        let params = cloud.params(body.parameters());
        params.and_then(|params| Ok(params.check_ciphertext(body)?)).map_err(at(*index))?;
    }
    let fresh: Vec<&Upload<'_>> = new.iter().map(|index| &uploads[*index]).collect();
    let kept = cloud
        .store
        .keep_envelopes(&fresh, verifying_key, checked_at)
        .map_err(|error| (first, error.into()))?;
    let kept = match kept {
        Ok(kept) => kept,
        Err((at, refused)) => {
            let index = new[at];
            let problem = receipt(cloud, refused, &uploads[index]).err().unwrap_or_else(Problem::internal);
            return Err((index, problem));
        }
    };
    for (index, kept) in new.into_iter().zip(kept) {
        let upload = &uploads[index];
        if matches!(kept, EarlierUpload::New(_)) {
            cloud.quotas.stored(device, upload.counted_bytes());
        }
        receipts[index] = Some(receipt(cloud, kept, upload).map_err(at(index))?);
    }
    if fresh.iter().any(|upload| upload.envelope.replaces()) {
        // Bodies may be dropped.
        cloud.quotas.count_again(&cloud.store, device).map_err(|error| (first, error.into()))?;
    }
    Ok(receipts.into_iter().flatten().collect())
}

fn named(idempotency_key: &str, expected: &str) -> Result<(), Problem> {
    if idempotency_key == expected {
        return Ok(());
    }
    let detail = format!("the idempotency key of this envelope is {expected}");
    Err(Problem::unprocessable(reason::IDEMPOTENCY_KEY_MISMATCH, detail))
}

/// Returns the stream that a message names; `None` for an envelope of version 1. If the stream is unknown, looks for a
/// new enrolment first.
fn stream(cloud: &Cloud, idempotency_key: &str, bytes: &[u8]) -> Result<Option<Arc<StreamHeader>>, Problem> {
    let Some(tag) = stream_tag(bytes)? else { return Ok(None) };
    if let Some(stream) = cloud.store.stream(tag)? {
        return Ok(Some(stream));
    }
    // For a device with a dot in its name this reads the whole folder, at most once a second.
    let device = idempotency_key.split('.').next().unwrap_or_default();
    enrolments::look_again(cloud, device);
    Ok(Some(cloud.store.stream(tag)?.ok_or(WireError::UnknownStream(tag))?))
}

/// The Ed25519 base point. Messages of unregistered devices are verified against it, so that their refusal takes as
/// long as that of a wrong signature. A message that it verifies is refused too, because anybody can sign for it.
const NOBODYS_KEY: [u8; 32] = {
    let mut key = [0x66; 32];
    key[0] = 0x58;
    key
};

/// Checks a device's message: its signature by `verify`, then the registration by `check`. If either refuses, looks for
/// a new enrolment and tries again. Returns the device, with the key that verified the signature.
pub(crate) fn known(
    cloud: &Cloud,
    name: &str,
    verify: impl Fn(&[u8; 32]) -> Result<(), WireError>,
    check: impl Fn(&Device) -> Result<(), Problem>,
) -> Result<Device, Problem> {
    let applied = cloud.enrolments.applied();
    let admit = || {
        let device = signed_by(cloud, name, &verify)?;
        check(&device).map(|()| device).map_err(Problem::of_known)
    };
    admit().or_else(|problem| {
        if problem.status.is_client_error() {
            enrolments::look_again(cloud, name);
        }
        if cloud.enrolments.applied() == applied { Err(problem) } else { admit() }
    })
}

/// Returns the device that signed a message. All other senders get the same refusal, so that names of devices cannot be
/// enumerated: only a valid signature reveals that a device is revoked.
fn signed_by(
    cloud: &Cloud,
    name: &str,
    verify: impl Fn(&[u8; 32]) -> Result<(), WireError>,
) -> Result<Device, Problem> {
    let device = cloud.store.device(name)?;
    match (verify(device.as_ref().map_or(&NOBODYS_KEY, |device| &device.verifying_key)), device) {
        (Ok(()), Some(device)) if device.revoked => Err(revoked(name).of_known()),
        (Ok(()), Some(device)) => Ok(device),
        (Ok(()) | Err(WireError::Signature), _) => Err(not_admitted()),
        (Err(error), _) => Err(error.into()),
    }
}

fn not_admitted() -> Problem {
    let detail = "the cloud does not admit this message: the device is not registered here, was revoked, or signs with another key; its \
                  owner: run `sotto status`";
    Problem::forbidden(reason::NOT_ADMITTED, detail)
}

fn revoked(name: &str) -> Problem {
    Problem::forbidden(reason::DEVICE_REVOKED, format!("device {name} is revoked: its uploads are refused"))
}

fn registered_key(device: &Device, envelope: &Envelope) -> Result<(), Problem> {
    let EnvelopeHeader { device: name, parameters, key, .. } = envelope.header();
    let (parameters, key) = (*parameters, *key);
    if device.keys.contains(&(parameters, key)) {
        return Ok(());
    }
    Err(if device.keys.iter().any(|(registered, _)| *registered == parameters) {
        let detail = format!("key {key} is not registered for device {name} and parameters {parameters}");
        Problem::unprocessable(reason::WRONG_KEY, detail)
    } else {
        let detail = format!("parameters {parameters} are not registered for device {name}");
        Problem::unprocessable(reason::WRONG_PARAMETERS, detail)
    })
}

fn receipt(cloud: &Cloud, kept: EarlierUpload, upload: &Upload<'_>) -> Result<Receipt, Problem> {
    let header = upload.envelope.header();
    match kept {
        EarlierUpload::New(receipt) => {
            tracing::info!(
                device = header.device,
                stream = header.stream,
                sequence = header.sequence,
                "stored"
            );
            signed(cloud, receipt, upload)
        }
        EarlierUpload::Duplicate(receipt) => signed(cloud, receipt, upload),
        EarlierUpload::KeyReused => Err(Problem::conflict(
            reason::IDEMPOTENCY_KEY_REUSED,
            "this idempotency key was used with another body: use a new key for a new body",
        )),
        EarlierUpload::SequenceTaken => {
            let (stream, sequence) = (&header.stream, header.sequence);
            cloud.store.note_taken_number(&header.device)?;
            let detail = format!(
                "number {sequence} of stream {stream} is there already, with another body: the device's spool is an old copy, \
                 or a copy of its bundle is in use; its owner sees it in `sotto status`"
            );
            Err(Problem::conflict(reason::SEQUENCE_TAKEN, detail))
        }
        EarlierUpload::TickTaken(TakenTick { window, channel, at }) => {
            let (stream, at) = (&header.stream, cloud.store.rfc3339(at)?);
            cloud.store.note_taken_number(&header.device)?;
            let detail = format!(
                "window {window} of stream {stream} has a reading of {channel} at the tick of {at} already, and so has this one: it is \
                 not stored. The device's spool is an old copy, or a copy of its bundle is in use; its owner sees it in `sotto status`"
            );
            Err(Problem::conflict(reason::TICK_TAKEN, detail))
        }
        EarlierUpload::MaskRepeated(other) => {
            note_repeated_mask(cloud, upload.envelope, other.as_deref())?;
            let stream = &header.stream;
            let detail = format!(
                "another window of stream {stream} was encrypted under the same mask, and both together show their difference: this one \
                 is not stored. The device runs twice from one copy of its memory, or is damaged; its owner sees it in `sotto status`"
            );
            Err(Problem::conflict(reason::MASK_REPEATED, detail))
        }
        EarlierUpload::StoredUnder(sequence) => {
            let stream = &header.stream;
            let detail = format!(
                "this window of stream {stream} is stored already, with number {sequence}: it is not stored a second time"
            );
            Err(Problem::conflict(reason::MASK_REPEATED, detail))
        }
        EarlierUpload::Forgotten => {
            let detail = "the owner has deleted the windows of this time: they are not stored again";
            Err(Problem::new(StatusCode::GONE, reason::FORGOTTEN, detail))
        }
        EarlierUpload::NoLongerAccepted => Err(revoked(&header.device)),
    }
}

/// Adds the cloud's signature to a receipt.
fn signed(cloud: &Cloud, receipt: Receipt, upload: &Upload<'_>) -> Result<Receipt, Problem> {
    let header = upload.envelope.header();
    let statement = sotto_wire::Receipt {
        device: &header.device,
        stream: &header.stream,
        sequence: header.sequence,
        digest: upload.receipt_digest,
        position: receipt.position,
        stored_at: receipt.stored_at,
    };
    let signature = hex::encode(statement.sign(|message| cloud.identity.sign(message))?);
    Ok(Receipt { signature, ..receipt })
}

fn note_repeated_mask(
    cloud: &Cloud,
    envelope: &Envelope,
    other: Option<&SignedHeader>,
) -> Result<(), Problem> {
    cloud.store.note_repeated_mask(envelope.signed_header(), other)?;
    let EnvelopeHeader { device, stream, sequence, .. } = envelope.header();
    tracing::error!(device, stream, sequence, "another window has the same mask: this one is not stored");
    Ok(())
}
