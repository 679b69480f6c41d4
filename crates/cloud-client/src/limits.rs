//! A cloud's limits.

use serde::Deserialize;

use crate::text::line;

/// A cloud's limits on plans, keys and uploads. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Version of the cloud's software.
    #[serde(deserialize_with = "line")]
    pub version: String,
    /// Largest envelope.
    pub largest_upload: u64,
    /// Largest frame of evaluation keys.
    pub largest_keys: u64,
    /// Largest frame of a plan.
    pub largest_plan: u64,
    /// Largest total of ciphertexts that a job holds at the same time.
    pub largest_job: u64,
    /// Largest number of Galois keys in a set of evaluation keys.
    pub most_galois_keys: usize,
    /// Largest number of transfer keys in a set of evaluation keys.
    pub most_transfer_keys: usize,
    /// Largest number of keys in a device's registration.
    pub most_device_keys: usize,
    /// Largest number of inputs of a plan.
    pub most_inputs: usize,
    /// Largest number of outputs of a plan.
    pub most_outputs: usize,
    /// Largest number of steps of a plan.
    pub most_steps: usize,
    /// Largest number of items in a page of a list.
    pub largest_page: u32,
}
