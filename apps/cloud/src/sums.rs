//! Sums of compact ciphertexts.

use sotto_api::reason;
use sotto_api::sums::{SumOf, SumsRequest};
use sotto_evaluate::{SumError, Summing, window};
use sotto_rlwe::KeyId;
use sotto_wire::{SumRequest, Transcript, TranscriptInputs, Work, sums_request_digest};

use crate::cloud::Cloud;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::StoreError;
use crate::transcript;

/// A sum's failure as a problem document. Stored ciphertexts were checked, so one that does not fit now is damaged.
struct Failed(Problem);

impl From<SumError> for Failed {
    fn from(error: SumError) -> Self {
        Self(match error {
            SumError::Request(detail) => Problem::unprocessable(reason::WRONG_SUM, detail),
            SumError::Body(error) => StoreError::Damaged(error.to_string()).into(),
            SumError::Frame(error) => error.into(),
        })
    }
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

/// Adds the envelopes of a request, reading one at a time so that only the sums are in memory. Returns their frame and
/// its transcript.
pub(crate) fn sums(cloud: &Cloud, request: &SumsRequest) -> Result<(Vec<u8>, Transcript), Problem> {
    add(cloud, request).map_err(|Failed(problem)| problem)
}

fn add(cloud: &Cloud, request: &SumsRequest) -> Result<(Vec<u8>, Transcript), Failed> {
    let digest = sums_request_digest(&requests(request));
    let mut summing = Summing::new(request.envelopes.len(), requests(request))?;
    let (mut leaves, mut under) = (Vec::with_capacity(request.envelopes.len()), None);
    let ids: Vec<Option<Id>> = request.envelopes.iter().map(|name| Id::parse(name)).collect();
    let named: Vec<Id> = ids.iter().flatten().copied().collect();
    let mut found = cloud.store.find(&named).map_err(Problem::from)?.into_iter();
    for (name, id) in request.envelopes.iter().zip(ids) {
        let unknown = || {
            let detail = format!("there is no envelope of the name {name}");
            Problem::unprocessable(reason::UNKNOWN_ENVELOPE, detail)
        };
        let found = id.and_then(|_| found.next().flatten()).ok_or_else(unknown)?;
        let envelope = cloud.store.read(&found).map_err(Problem::from)?;
        leaves.push(found.leaf().map_err(Problem::from)?);
        let window = window(&envelope)?;
        let key = window.0.form.key;
        under = match under {
            None => Some((window.0.form.parameters, key)),
            // Inputs under several keys: the key in the transcript is zero.
            Some((parameters, known)) => Some((parameters, if known == key { key } else { KeyId([0; 16]) })),
        };
        summing.add(&window, |form| {
            Ok::<_, Failed>(cloud.params(form.parameters)?.compact(form).map_err(Problem::from)?)
        })?;
    }
    let frame = summing.frame()?;
    let (parameters, key) = under.ok_or_else(Problem::internal)?;
    let inputs = TranscriptInputs::of(leaves);
    let summed = transcript::Summed { work: Work::Sums, request: digest, parameters, key, inputs };
    let transcript = transcript::of_sums(cloud, &summed, &frame)?;
    Ok((frame, transcript))
}

fn requests(request: &SumsRequest) -> Vec<SumRequest<'_>> {
    let sums = request.sums.iter().map(|sum| {
        let SumOf { envelopes, places, weights } = sum;
        SumRequest { envelopes: *envelopes, places: *places, weights: weights.as_deref() }
    });
    sums.collect()
}
