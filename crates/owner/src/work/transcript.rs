//! Transcripts of answers, compared with the requests.

use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{Digest, Transcript, TranscriptInputs, whole_frame_digest};

use crate::declared::CloudKeys;
use crate::error::OwnerError;
use crate::lie::Lie;

/// The requested work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) parameters: ParameterId,
    pub(crate) key: KeyId,
    /// The digest of the plan.
    pub(crate) request: Digest,
    /// True if the work needs evaluation keys.
    pub(crate) needs_keys: bool,
    pub(crate) inputs: TranscriptInputs,
}

impl Expected {
    /// Reads the transcript of an answer, and checks that it describes this work and these outputs. `own_keys` returns
    /// true for evaluation keys that the owner made.
    ///
    /// # Errors
    /// [`OwnerError::Lie`], which names the difference.
    pub(crate) fn check<'o>(
        &self,
        frame: &[u8],
        outputs: impl IntoIterator<Item = &'o [u8]>,
        pinned: &CloudKeys,
        own_keys: impl Fn(&Digest) -> bool,
    ) -> Result<Transcript, OwnerError> {
        if frame.is_empty() {
            return Err(Lie::NoTranscript.into());
        }
        let read = Transcript::read(frame);
        let transcript = read.map_err(|error| OwnerError::WrongAnswer(format!("the transcript: {error}")))?;
        pinned.check_transcript(&transcript)?;
        let parts = transcript.parts();
        if parts.inputs != self.inputs {
            let (expected, found) = (self.inputs.count, parts.inputs.count);
            return Err(Lie::OtherWindows { expected, found }.into());
        }
        if parts.request != self.request || parts.parameters != self.parameters {
            return Err(Lie::OtherPlan.into());
        }
        if parts.key != self.key {
            let (expected, found) = (self.key.to_string(), parts.key.to_string());
            return Err(Lie::WrongKey { expected, found }.into());
        }
        if self.needs_keys && !parts.evaluation_keys.is_some_and(|keys| own_keys(&keys)) {
            return Err(Lie::WrongEvaluationKeys.into());
        }
        let digests = outputs.into_iter().map(whole_frame_digest).collect::<Result<Vec<_>, _>>();
        let digests = digests.map_err(|error| Lie::TruncatedAnswer { reason: error.to_string() })?;
        if digests != parts.outputs {
            return Err(Lie::OtherOutput.into());
        }
        Ok(transcript)
    }
}

/// Converts an error of work on a device's windows. If the cloud no longer has a window, it is a [`Lie`].
pub(crate) fn of_work(device: &str, error: sotto_cloud_client::CloudError) -> OwnerError {
    match error.refusal() {
        Some(sotto_api::reason::UNKNOWN_ENVELOPE) => {
            Lie::MissingWindow { device: device.to_owned(), reason: error.to_string() }.into()
        }
        _ => error.into(),
    }
}
