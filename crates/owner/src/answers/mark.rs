//! The marks of verified answers.

use serde::{Deserialize, Serialize};

/// The mark of a verified answer, in `answers/NAME.verified`.
///
/// Example: [`Published`](crate::Published)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// Time of the verification, in milliseconds since 1970.
    pub at_ms: i64,
    /// The fraction of the work that was repeated, from 0 to 1.
    pub sampled: f64,
    /// Number of jobs and requests for sums behind the answer.
    pub jobs: u64,
}
