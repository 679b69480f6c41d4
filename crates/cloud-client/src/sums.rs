//! Sums of compact ciphertexts.

use serde::Serialize;

/// A sum of envelopes that a request names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SumOf {
    /// The first of the envelopes, from 0, and how many.
    pub envelopes: (u32, u32),
    /// The first of the places, and how many.
    pub places: (u16, u16),
    /// For each envelope, a weight for each place. None: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<i32>>,
}
