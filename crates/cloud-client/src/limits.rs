//! A cloud's limits.

use serde::Deserialize;

use crate::text::line;

/// Limits of a cloud that plans, keys and uploads have to respect. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Version of the cloud's program.
    #[serde(deserialize_with = "line")]
    pub version: String,
    /// An envelope.
    pub largest_upload: u64,
    /// The frame of a set of evaluation keys.
    pub largest_keys: u64,
    /// The frame of a plan.
    pub largest_plan: u64,
    /// The ciphertexts that a job holds at once.
    pub largest_job: u64,
    /// Galois keys of a set of evaluation keys.
    pub most_galois_keys: usize,
    /// Transfer keys of a set of evaluation keys.
    pub most_transfer_keys: usize,
    /// Keys that a device is registered with.
    pub most_device_keys: usize,
    /// Inputs of a plan.
    pub most_inputs: usize,
    /// Outputs of a plan.
    pub most_outputs: usize,
    /// Steps of a plan.
    pub most_steps: usize,
    /// Items of a page of a list.
    pub largest_page: u32,
}
