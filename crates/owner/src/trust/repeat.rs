//! Repeating one job.

use std::time::Duration;

use sotto_cloud_client::CloudError;
use sotto_evaluate::{JobError, MOST_KEYS};
use sotto_rlwe::{EvaluationKeys, ParameterSpec, Params, with_scheme};
use sotto_runtime::{Managed, Threads};
use sotto_wire::{
    Digest, Envelope, EnvelopeHeader, LARGEST_ENVELOPE, LARGEST_PLAN, Transcript, TranscriptInputs,
    TranscriptParts, WireError, frame_digest,
};

use super::sources::Sources;
use crate::declared::CloudKeys;
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::work::{Evidence, WorkRecord};

/// Largest total of ciphertexts in a repeated job: 16 GiB, in bytes.
const MOST_BYTES: u64 = 16 << 30;

const OF_PLACES: &str =
    "it is a sum of places, which an earlier version asked for and this one does not repeat: ask again";

/// Totals of repeated work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Repeated {
    pub(super) windows: u64,
    pub(super) time: Duration,
}

impl Repeated {
    pub(super) fn add(&mut self, other: Self) {
        self.windows += other.windows;
        self.time += other.time;
    }
}

/// Repeats the work of a record.
///
/// # Errors
/// [`OwnerError::Lie`] if a statement of the cloud is false; another [`OwnerError`] if the cloud is unreachable or a
/// file is missing.
pub(super) fn repeat(
    record: &WorkRecord,
    evidence: &Evidence,
    sources: &mut Sources<'_>,
    pinned: &CloudKeys,
) -> Result<Repeated, OwnerError> {
    let damaged = |reason: String| OwnerError::WrongAnswer(format!("the evidence of the answer: {reason}"));
    let frame = hex::decode(&record.transcript).map_err(|error| damaged(error.to_string()))?;
    let transcript = Transcript::read(&frame).map_err(|error| match error {
        WireError::Places => OwnerError::Unanswerable(OF_PLACES.to_owned()),
        _ => damaged(error.to_string()),
    })?;
    pinned.check_transcript(&transcript)?;
    let parts = transcript.parts();
    let leaves = record.inputs.iter().map(|leaf| sources.leaf(leaf)).collect::<Result<Vec<_>, _>>()?;
    let inputs = TranscriptInputs::of(leaves);
    if inputs != parts.inputs {
        return Err(Lie::OtherWindows { expected: inputs.count, found: parts.inputs.count }.into());
    }
    let (outputs, time) = job(record, evidence, parts, sources)?;
    let digests = outputs.iter().map(|output| frame_digest(output)).collect::<Result<Vec<_>, _>>();
    if digests.as_ref() != Ok(&parts.outputs) {
        return Err(Lie::ForgedAnswer { windows: inputs.count }.into());
    }
    Ok(Repeated { windows: inputs.count, time })
}

/// Returns the envelope of a window, by its leaf in hexadecimal. Its signed header must be the one in the log.
fn envelope(sources: &mut Sources<'_>, name: &str) -> Result<Envelope, OwnerError> {
    let leaf = sources.leaf(name)?;
    let message = match sources.message(name) {
        Err(OwnerError::Cloud(error @ CloudError::Refused { status: 404, .. })) => {
            return Err(
                Lie::ImpossibleWork { reason: format!("it does not give window {name}: {error}") }.into()
            );
        }
        message => message?,
    };
    let read = Envelope::read_kept(&message, LARGEST_ENVELOPE + 4096);
    match read {
        Ok(envelope) if envelope.signed_header().leaf() == leaf => Ok(envelope),
        Ok(envelope) => {
            let EnvelopeHeader { device, stream, sequence, .. } = envelope.header().clone();
            Err(Lie::ExchangedWindow { device, stream, sequence }.into())
        }
        Err(error) => Err(Lie::ImpossibleWork { reason: format!("window {name}: {error}") }.into()),
    }
}

fn job(
    record: &WorkRecord,
    evidence: &Evidence,
    parts: &TranscriptParts,
    sources: &mut Sources<'_>,
) -> Result<(Vec<Vec<u8>>, Duration), OwnerError> {
    let spec = sources.spec(parts.parameters)?;
    with_scheme!(spec.scheme, S => typed::<S>(spec, record, evidence, parts, sources))
}

fn typed<S: Managed>(
    spec: ParameterSpec,
    record: &WorkRecord,
    evidence: &Evidence,
    parts: &TranscriptParts,
    sources: &mut Sources<'_>,
) -> Result<(Vec<Vec<u8>>, Duration), OwnerError> {
    let impossible = |reason: String| OwnerError::Lie(Lie::ImpossibleWork { reason });
    let plan = evidence.plans.get(&hex::encode(parts.request)).ok_or(Lie::OtherPlan)?;
    let plan = hex::decode(plan).map_err(|error| impossible(error.to_string()))?;
    if frame_digest(&plan) != Ok(parts.request) || plan.len() as u64 > LARGEST_PLAN {
        return Err(Lie::OtherPlan.into());
    }
    let plan = sotto_wire::read_plan(&plan).map_err(|error| impossible(error.to_string()))?;
    let params = Params::<S>::new(spec).map_err(|error| OwnerError::NoParameters(error.to_string()))?;
    // The cloud names its keys even if the work needs none; then they may not have been made here.
    let keys = match parts.evaluation_keys {
        Some(digest) => evaluation_keys(sources, &params, &digest)?,
        None => None,
    };
    let without_keys = parts.evaluation_keys.is_some() && keys.is_none();
    let keys = keys.unwrap_or_else(|| EvaluationKeys::empty(&params, parts.key));
    let threads = Threads::new(std::thread::available_parallelism().map_or(1, usize::from));
    let threads = threads.map_err(|error| OwnerError::Unanswerable(error.to_string()))?;
    let mut bodies = record.inputs.iter().map(|leaf| envelope(sources, leaf).map(Envelope::into_body));
    let evaluated = sotto_evaluate::job(&params, &plan, &mut bodies, &keys, &threads, MOST_BYTES);
    let evaluated = evaluated.map_err(|error| match error {
        JobError::Source(error) => error,
        JobError::Input(error) => impossible(error.to_string()),
        JobError::Expand(_) | JobError::Run(_) if without_keys => Lie::WrongEvaluationKeys.into(),
        JobError::Expand(error) => impossible(error.to_string()),
        JobError::Run(error) => impossible(error.to_string()),
    })?;
    Ok((evaluated.outputs, evaluated.time))
}

/// Returns the evaluation keys that the owner made, by the digest of their frame; None if they are not stored.
fn evaluation_keys<S: Managed>(
    sources: &Sources<'_>,
    params: &Params<S>,
    digest: &Digest,
) -> Result<Option<EvaluationKeys<S>>, OwnerError> {
    let Some(frame) = sources.evaluation_keys(digest)? else { return Ok(None) };
    if frame_digest(&frame) != Ok(*digest) {
        return Err(Lie::WrongEvaluationKeys.into());
    }
    let read = sotto_wire::read_evaluation_keys::<S>(&frame, params, MOST_KEYS);
    read.map(Some).map_err(|_| Lie::WrongEvaluationKeys.into())
}
