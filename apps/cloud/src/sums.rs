//! Sums of compact ciphertexts.

use serde::Deserialize;
use sotto_evaluate::{SumError, Summing, window};
use sotto_wire::SumRequest;

use crate::cloud::Cloud;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::StoreError;

/// A request for sums.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// Names of envelopes, whose ciphertexts have one form, and one key or one mask.
    envelopes: Vec<String>,
    sums: Vec<Wanted>,
}

/// One sum.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The first of the envelopes, and how many.
    envelopes: (u32, u32),
    /// The first of the places, and how many.
    places: (u16, u16),
    /// For each envelope, a weight for each place; 1 everywhere where there are none.
    weights: Option<Vec<i32>>,
}

/// A sum's failure as a problem document. What was stored was checked: if it does not fit now, the store is damaged.
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

/// Adds the envelopes of a request, which are read one after the other: only sums are held.
pub(crate) fn sums(cloud: &Cloud, request: &Request) -> Result<Vec<u8>, Problem> {
    add(cloud, request).map_err(|Failed(problem)| problem)
}

fn add(cloud: &Cloud, request: &Request) -> Result<Vec<u8>, Failed> {
    let mut summing = Summing::new(request.envelopes.len(), request.sums())?;
    for name in &request.envelopes {
        let unknown = || {
            let detail = format!("there is no envelope of the name {name}");
            Problem::unprocessable("unknown-envelope", detail)
        };
        let id = Id::parse(name).ok_or_else(unknown)?;
        cloud.store.envelope(id).map_err(Problem::from)?.ok_or_else(unknown)?;
        let envelope = cloud.store.stored(id).map_err(Problem::from)?;
        summing.add(&window(&envelope)?, |form| {
            Ok::<_, Failed>(cloud.engine(form.parameters)?.compact(form).map_err(Problem::from)?)
        })?;
    }
    Ok(summing.frame()?)
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
