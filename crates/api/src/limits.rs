//! The limits that a planner has to respect.

use serde::{Deserialize, Serialize};

use crate::route::route;
use crate::text::line;

/// The cloud's version and its limits.
///
/// ```
/// use sotto_api::limits::FetchLimits;
/// use sotto_api::{Arrived, Route};
///
/// let body = br#"{"version": "0.1.0", "largest_upload": 67108864, "largest_keys": 268435456, "largest_plan": 67108864,
///     "largest_job": 1073741824, "most_galois_keys": 64, "most_transfer_keys": 64, "most_device_keys": 256,
///     "most_inputs": 1024, "most_outputs": 256, "most_steps": 100000, "largest_page": 500}"#;
/// let limits = FetchLimits::read(Arrived { body: body.to_vec(), headers: Vec::new() })?;
/// assert!(limits.most_inputs >= 365, "a year of days fits one plan");
/// # Ok::<(), sotto_api::Unreadable>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Limits {
    /// The version of the program.
    #[serde(deserialize_with = "line")]
    pub version: String,
    /// Maximum bytes of an upload.
    pub largest_upload: u64,
    /// Maximum bytes of evaluation keys.
    pub largest_keys: u64,
    /// Maximum bytes of a plan.
    pub largest_plan: u64,
    /// Maximum bytes of ciphertexts that a job holds at any time.
    pub largest_job: u64,
    /// Maximum number of Galois keys of a secret key.
    pub most_galois_keys: usize,
    /// Maximum number of transfer keys to a secret key.
    pub most_transfer_keys: usize,
    /// Maximum number of pairs of parameters and key of a device.
    pub most_device_keys: usize,
    /// Maximum number of inputs of a plan.
    pub most_inputs: usize,
    /// Maximum number of outputs of a plan.
    pub most_outputs: usize,
    /// Maximum number of steps of a plan.
    pub most_steps: usize,
    /// Maximum number of items of a page.
    pub largest_page: u32,
}

route! {
    /// Returns the limits that a planner has to respect: sizes in bytes, and counts.
    FetchLimits: Token get "/v1/limits", "the limits", gives json Limits;
    responses((status = 200, description = "The limits.", body = Limits))
}
