//! Accepts envelopes. Nothing is stored unless every check succeeds.

#[cfg(all(test, feature = "counts"))]
mod cost;
mod group;
mod keep;

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
use crate::store::{Device, EarlierUpload, Kept, New, StoreError, TakenTick, Upload};

pub(crate) use keep::keep;

/// Checks an upload, an envelope or a group, and stores it durably. An envelope that is already stored is not stored
/// again.
#[cfg(all(test, feature = "counts"))]
pub(crate) fn ingest(cloud: &Cloud, idempotency_key: &str, bytes: &[u8]) -> Result<Receipts, Problem> {
    check(cloud, idempotency_key, bytes)?.keep(cloud)
}

/// Checks an upload, an envelope or a group. Stores nothing.
pub(crate) fn check(cloud: &Cloud, idempotency_key: &str, bytes: &[u8]) -> Result<Checked, Problem> {
    if is_group(bytes) {
        let stream = stream(cloud, idempotency_key, bytes)?.ok_or(WireError::Magic)?;
        return group::check(cloud, idempotency_key, WindowGroup::read(bytes, &stream)?);
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
    Checked::one(envelope, idempotency_key, bytes, &device)?.compared(cloud)
}

/// Maximum bytes of a window that is checked on a thread that serves connections. Its signature takes most of the time.
const SMALL: usize = 16 << 10;

/// Outcome of a check that waits for nothing.
pub(crate) enum AtOnce {
    Checked(Checked),
    /// The signature, the device or its key is not right by the registrations of this number.
    Refused(Problem, u64),
    /// Facts are not in memory, or the message is refused for another reason: [`check`] says so.
    Unknown,
}

/// Checks a small window of sums as [`check`] does, if its stream, its device and the device's room are in memory: neither the
/// disk nor the database is waited for.
pub(crate) fn check_at_once(cloud: &Cloud, idempotency_key: &str, bytes: &[u8]) -> AtOnce {
    let window = || {
        let tag = stream_tag(bytes).ok().flatten().filter(|_| bytes.len() <= SMALL && !is_group(bytes))?;
        let envelope = Envelope::read_window(bytes, &cloud.store.held_stream(tag)?).ok()?;
        let name = &envelope.header().device;
        let is_ready = envelope.body().is_of_sums()
            && named(idempotency_key, &envelope.header().upload_key()).is_ok()
            && cloud.store.held_device(name).is_some()
            && cloud.quotas.are_known_to_have_room(name, bytes.len() as u64);
        is_ready.then_some(envelope)
    };
    let Some(envelope) = window() else { return AtOnce::Unknown };
    let applied = cloud.enrolments.applied();
    let verify = |key: &[u8; 32]| envelope.verify(key);
    match admitted(cloud, &envelope.header().device, &verify, &|device| registered_key(device, &envelope)) {
        Err(problem) => AtOnce::Refused(problem, applied),
        Ok(device) => Checked::one(envelope, idempotency_key, bytes, &device)
            .and_then(|checked| checked.compared(cloud))
            .map_or(AtOnce::Unknown, AtOnce::Checked),
    }
}

/// Looks for a new enrolment of a device whose window was refused at once, and checks the window again if there is one.
pub(crate) fn check_again(
    cloud: &Cloud,
    idempotency_key: &str,
    bytes: &[u8],
    (problem, applied): (&Problem, u64),
) -> Result<Checked, Problem> {
    let device = stream(cloud, idempotency_key, bytes)?;
    again(cloud, device.as_ref().map_or("", |stream| stream.device()), (problem.clone(), applied), || {
        check(cloud, idempotency_key, bytes)
    })
}

/// Uploads of one device, at least one, that passed all checks outside the transaction that stores them.
pub(crate) struct Checked {
    uploads: Arc<Vec<Upload>>,
    /// True for a group: all are stored, or none.
    together: bool,
    /// The key that verified their signatures.
    verifying_key: [u8; 32],
    /// The receipts of those that are stored already.
    receipts: Vec<Option<Receipt>>,
    /// The indexes of the others.
    new: Vec<usize>,
    /// The number of changes of the database at which none of the others was stored.
    checked_at: u64,
}

impl Checked {
    fn one(
        envelope: Envelope,
        idempotency_key: &str,
        bytes: &[u8],
        device: &Device,
    ) -> Result<Self, Problem> {
        let digest = message_digest(bytes)?;
        let (idempotency_key, bytes) = (idempotency_key.to_owned(), bytes.to_vec());
        let upload = Upload { envelope, idempotency_key, bytes, digest, receipt_digest: digest };
        Ok(Self::new(vec![upload], false, device.verifying_key))
    }

    fn new(uploads: Vec<Upload>, together: bool, verifying_key: [u8; 32]) -> Self {
        let (receipts, new) = (Vec::with_capacity(uploads.len()), Vec::new());
        Self { uploads: Arc::new(uploads), together, verifying_key, receipts, new, checked_at: 0 }
    }

    fn of_group(uploads: Vec<Upload>, verifying_key: [u8; 32]) -> Self {
        Self::new(uploads, true, verifying_key)
    }

    fn compared(mut self, cloud: &Cloud) -> Result<Self, Problem> {
        self.compare(cloud).map_err(|(index, problem)| self.refusal(index, &problem))?;
        Ok(self)
    }

    /// Compares the uploads with the store and the quotas, and checks the ciphertexts of new ones. On refusal returns the
    /// index of the refused upload and the reason.
    fn compare(&mut self, cloud: &Cloud) -> Result<(), (usize, Problem)> {
        let is_of_sums = |upload: &Upload| upload.envelope.body().is_of_sums();
        let bytes = self.uploads.iter().map(Upload::counted_bytes).sum();
        let have_room = || cloud.quotas.have_room(&cloud.store, self.device(), bytes);
        if self.uploads.iter().all(is_of_sums) && have_room().map_err(|error| (0, error.into()))? {
            // Nothing depends on which of them are new: the transaction that stores them compares them.
            self.checked_at = u64::MAX;
            self.new = (0..self.uploads.len()).collect();
            self.receipts = vec![None; self.uploads.len()];
            return self.numbers();
        }
        self.checked_at = cloud.store.changes();
        self.numbers()?;
        let at = |index: usize| move |problem: Problem| (index, problem);
        for (index, upload) in self.uploads.iter().enumerate() {
            let earlier = cloud.store.earlier(upload).map_err(|error| (index, error.into()))?;
            let receipt = earlier.map(|kept| receipt(cloud, kept, upload)).transpose().map_err(at(index))?;
            if receipt.is_none() {
                self.new.push(index);
            }
            self.receipts.push(receipt);
        }
        let Some(first) = self.new.first().copied() else { return Ok(()) };
        let new = || self.new.iter().map(|index| (*index, &self.uploads[*index]));
        let bytes = new().map(|(_, upload)| upload.counted_bytes()).sum();
        let pieces: Vec<Option<Piece>> =
            new().map(|(_, upload)| Piece::of(upload.envelope.signed_header())).collect();
        cloud.quotas.admit(&cloud.store, self.device(), bytes, &pieces).map_err(at(first))?;
        for (index, upload) in new() {
            let body = upload.envelope.body();
            if body.is_of_sums() {
                // Reading has checked its parts; there are no parameters.
                continue;
            }
            let params = cloud.params(body.parameters());
            params.and_then(|params| Ok(params.check_ciphertext(body)?)).map_err(at(index))?;
        }
        Ok(())
    }

    /// Refuses sequence numbers that rows have no room for.
    fn numbers(&self) -> Result<(), (usize, Problem)> {
        let too_high = |upload: &Upload| i64::try_from(upload.envelope.header().sequence).is_err();
        match self.uploads.iter().position(too_high) {
            None => Ok(()),
            Some(index) => {
                let detail = "a sequence number must be below 2^63";
                Err((index, Problem::unprocessable(reason::INVALID_VALUE, detail)))
            }
        }
    }

    fn device(&self) -> &str {
        self.uploads.first().map_or("", |upload| &upload.envelope.header().device)
    }

    /// Stores the uploads durably, all or none. The thread waits for a commit.
    pub(crate) fn keep(self, cloud: &Cloud) -> Result<Receipts, Problem> {
        if self.new.is_empty() {
            return self.receipts();
        }
        loop {
            match cloud.store.keep_envelopes(self.to_store()) {
                // Windows that it is compared with are in the object store alone.
                Err(StoreError::Away(_)) => cloud.store.bring()?,
                kept => return self.finish(cloud, kept),
            }
        }
    }

    fn to_store(&self) -> New {
        let (uploads, new) = (Arc::clone(&self.uploads), self.new.clone());
        New { uploads, new, verifying_key: self.verifying_key, checked_at: self.checked_at }
    }

    /// Notes the outcomes of new uploads, and returns all receipts.
    fn finish(mut self, cloud: &Cloud, kept: Result<Kept, StoreError>) -> Result<Receipts, Problem> {
        self.note(cloud, kept).map_err(|(index, problem)| self.refusal(index, &problem))?;
        self.receipts()
    }

    fn receipts(self) -> Result<Receipts, Problem> {
        let mut receipts: Vec<Receipt> = self.receipts.into_iter().flatten().collect();
        if self.together {
            return Ok(Receipts::Group(receipts));
        }
        receipts.pop().map(Receipts::Window).ok_or_else(Problem::internal)
    }

    fn note(&mut self, cloud: &Cloud, kept: Result<Kept, StoreError>) -> Result<(), (usize, Problem)> {
        let Some(first) = self.new.first().copied() else { return Ok(()) };
        let at = |index: usize| move |problem: Problem| (index, problem);
        let kept = match kept.map_err(|error| (first, error.into()))? {
            Ok(kept) => kept,
            Err((index, refused)) => {
                let problem = receipt(cloud, refused, &self.uploads[index]).err();
                return Err((index, problem.unwrap_or_else(Problem::internal)));
            }
        };
        let mut replaces = false;
        for (index, kept) in self.new.iter().copied().zip(kept) {
            let upload = &self.uploads[index];
            if matches!(kept, EarlierUpload::New(_)) {
                cloud.quotas.stored(self.device(), upload.counted_bytes());
            }
            replaces |= upload.envelope.replaces();
            self.receipts[index] = Some(receipt(cloud, kept, upload).map_err(at(index))?);
        }
        if replaces {
            // Bodies may be dropped.
            let counted = cloud.quotas.count_again(&cloud.store, self.device());
            counted.map_err(|error| (first, error.into()))?;
        }
        Ok(())
    }

    /// Returns a refusal; of a group, it names the window.
    fn refusal(&self, index: usize, problem: &Problem) -> Problem {
        let header = self.uploads[index].envelope.header();
        let (stream, sequence, windows) = (&header.stream, header.sequence, self.uploads.len());
        let detail = match self.together {
            true => {
                let place =
                    format!("window {} of {windows} of the group, number {sequence} of {stream}", index + 1);
                format!("{place}: {}", problem.detail)
            }
            false => problem.detail.clone(),
        };
        Problem::new(problem.status, problem.reason, detail).of_known()
    }
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
    let admit = || admitted(cloud, name, &verify, &check);
    admit().or_else(|problem| again(cloud, name, (problem, applied), admit))
}

fn admitted(
    cloud: &Cloud,
    name: &str,
    verify: &impl Fn(&[u8; 32]) -> Result<(), WireError>,
    check: &impl Fn(&Device) -> Result<(), Problem>,
) -> Result<Device, Problem> {
    let device = signed_by(cloud, name, verify)?;
    check(&device).map(|()| device).map_err(Problem::of_known)
}

/// Looks for a new enrolment of a device that was refused, by the registrations of a number. Tries again if there is one.
fn again<T>(
    cloud: &Cloud,
    name: &str,
    (problem, applied): (Problem, u64),
    admit: impl FnOnce() -> Result<T, Problem>,
) -> Result<T, Problem> {
    if problem.status.is_client_error() {
        enrolments::look_again(cloud, name);
    }
    if cloud.enrolments.applied() == applied { Err(problem) } else { admit() }
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

fn receipt(cloud: &Cloud, kept: EarlierUpload, upload: &Upload) -> Result<Receipt, Problem> {
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
        EarlierUpload::RolledUp(window) => {
            let stream = &header.stream;
            let detail = format!(
                "this window corrects window {window} of stream {stream}, of which the cloud keeps a sum alone, by the owner's order (`sotto retain`): it is not stored. Readings at ticks that have none are still taken"
            );
            Err(Problem::conflict(reason::ROLLED_UP, detail))
        }
        EarlierUpload::MaskRepeated(other) => {
            note_repeated_mask(cloud, &upload.envelope, other.as_deref())?;
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
fn signed(cloud: &Cloud, receipt: Receipt, upload: &Upload) -> Result<Receipt, Problem> {
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
