//! Transcripts of the cloud's work.

use std::time::SystemTime;

use sotto_wire::{Transcript, TranscriptInputs, TranscriptParts, WireError, frame_digest};

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

fn signed(cloud: &Cloud, parts: TranscriptParts) -> Result<Transcript, Problem> {
    Ok(Transcript::sign(parts, |message| cloud.identity.sign(message))?)
}
