//! Sums of compact ciphertexts.

use serde::Deserialize;
use sotto_evaluate::{SumError, Summing, window};
use sotto_rlwe::KeyId;
use sotto_wire::{SumRequest, Transcript, TranscriptInputs, Work, sums_request_digest};
use utoipa::ToSchema;

use crate::cloud::Cloud;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::StoreError;
use crate::transcript;

/// A request for sums.
#[derive(Deserialize, ToSchema)]
#[schema(as = SumsRequest)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// Ids of envelopes, at most 4,096. Their ciphertexts are compact ones of whole numbers, of one form, and under one key
    /// or one mask: one request a device, or a fleet's sums.
    envelopes: Vec<String>,
    /// At most 4,096 sums.
    sums: Vec<Wanted>,
}

/// One sum.
#[derive(Deserialize, ToSchema)]
#[schema(as = WantedSum)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Index of the first envelope, and the number of envelopes.
    #[schema(value_type = Vec<u32>, min_items = 2, max_items = 2)]
    envelopes: (u32, u32),
    /// Index of the first place, and the number of places: column · ticks + tick, with `columns` and `ticks` of the
    /// envelope's `layout` (readings first, then squares and products; wire.md).
    #[schema(value_type = Vec<u16>, min_items = 2, max_items = 2)]
    places: (u16, u16),
    /// One flat list: the weights of all places of the first envelope, then of the second, and so on; absent: all are 1.
    weights: Option<Vec<i32>>,
}

/// A sum's failure as a problem document. Stored ciphertexts were checked, so one that does not fit now is damaged.
struct Failed(Problem);

impl From<SumError> for Failed {
    fn from(error: SumError) -> Self {
        Self(match error {
            SumError::Request(detail) => Problem::unprocessable("wrong-sum", detail),
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
pub(crate) fn sums(cloud: &Cloud, request: &Request) -> Result<(Vec<u8>, Transcript), Problem> {
    add(cloud, request).map_err(|Failed(problem)| problem)
}

fn add(cloud: &Cloud, request: &Request) -> Result<(Vec<u8>, Transcript), Failed> {
    let digest = sums_request_digest(&request.sums());
    let mut summing = Summing::new(request.envelopes.len(), request.sums())?;
    let (mut leaves, mut under) = (Vec::with_capacity(request.envelopes.len()), None);
    let ids: Vec<Option<Id>> = request.envelopes.iter().map(|name| Id::parse(name)).collect();
    let named: Vec<Id> = ids.iter().flatten().copied().collect();
    let mut found = cloud.store.find(&named).map_err(Problem::from)?.into_iter();
    for (name, id) in request.envelopes.iter().zip(ids) {
        let unknown = || {
            let detail = format!("there is no envelope of the name {name}");
            Problem::unprocessable("unknown-envelope", detail)
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
    let under = under.ok_or_else(Problem::internal)?;
    let inputs = TranscriptInputs::of(leaves);
    let transcript = transcript::of_sums(cloud, (Work::Sums, digest), under, inputs, &frame)?;
    Ok((frame, transcript))
}

impl Request {
    fn sums(&self) -> Vec<SumRequest<'_>> {
        self.sums.iter().map(Wanted::request).collect()
    }
}

impl Wanted {
    fn request(&self) -> SumRequest<'_> {
        SumRequest { envelopes: self.envelopes, places: self.places, weights: self.weights.as_deref() }
    }
}
