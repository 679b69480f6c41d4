//! A cloud's limits.

use serde::Deserialize;

use crate::text::line;

/// A cloud's limits on plans, keys and uploads. Sizes are in bytes.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::Limits;
/// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"{
/// #     "version": "0.1.0", "largest_upload": 67108864, "largest_keys": 268435456, "largest_plan": 67108864,
/// #     "largest_job": 1073741824, "most_galois_keys": 64, "most_transfer_keys": 64, "most_device_keys": 256,
/// #     "most_inputs": 1024, "most_outputs": 256, "most_steps": 100000, "largest_page": 500
/// # }"#)]);
///
/// let limits: Limits = cloud.limits()?;
/// assert_eq!(limits.largest_upload, 64 << 20);
/// assert!(limits.most_inputs >= 365, "a year of days fits one plan");
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
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
