//! Transcripts of the cloud's work.

use std::time::SystemTime;

use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{Digest, Transcript, TranscriptInputs, TranscriptParts, WireError, Work, frame_digest};

use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::registry::LoadedKeys;
use crate::store::{Job, milliseconds};

/// Returns the transcript of a job with these outputs.
pub(crate) fn of_job(
    cloud: &Cloud,
    job: &Job,
    inputs: TranscriptInputs,
    keys: &LoadedKeys,
    outputs: &[Vec<u8>],
) -> Result<Transcript, Problem> {
    let outputs = outputs.iter().map(|output| frame_digest(output)).collect::<Result<_, WireError>>()?;
    signed(
        cloud,
        TranscriptParts {
            work: Work::Job,
            parameters: job.parameters,
            key: job.key,
            request: job.plan,
            evaluation_keys: keys.digest,
            inputs,
            outputs,
            ended_at: milliseconds(SystemTime::now()),
            cloud: cloud.identity.verifying_key(),
        },
    )
}

/// Computed sums: the request, the parameters and key of the windows, and the windows' leaves.
pub(crate) struct Summed {
    /// [`Work::Sums`] or [`Work::FleetSums`].
    pub(crate) work: Work,
    pub(crate) request: Digest,
    pub(crate) parameters: ParameterId,
    /// Zero for windows under several keys.
    pub(crate) key: KeyId,
    pub(crate) inputs: TranscriptInputs,
}

/// Returns the transcript of sums, which are one frame.
pub(crate) fn of_sums(cloud: &Cloud, summed: &Summed, frame: &[u8]) -> Result<Transcript, Problem> {
    let Summed { work, request, parameters, key, inputs } = *summed;
    signed(
        cloud,
        TranscriptParts {
            work,
            parameters,
            key,
            request,
            evaluation_keys: None,
            inputs,
            outputs: vec![frame_digest(frame)?],
            ended_at: milliseconds(SystemTime::now()),
            cloud: cloud.identity.verifying_key(),
        },
    )
}

fn signed(cloud: &Cloud, parts: TranscriptParts) -> Result<Transcript, Problem> {
    Ok(Transcript::sign(parts, |message| cloud.identity.sign(message))?)
}
