//! Sums of compact ciphertexts.

use serde::{Deserialize, Serialize};

/// Sums that the cloud made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summed {
    /// The frame of the sums.
    pub frame: Vec<u8>,
    /// The frame of their transcript; empty if the cloud gave none.
    pub transcript: Vec<u8>,
    /// Microseconds of reading and adding, by the cloud's word.
    pub evaluate_us: u64,
}

/// A sum of envelopes that a request names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumOf {
    /// The first of the envelopes, from 0, and how many.
    pub envelopes: (u32, u32),
    /// The first of the places, and how many.
    pub places: (u16, u16),
    /// For each envelope, a weight for each place. None: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<i32>>,
}

/// Windows of a fleet that are summed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FleetSumsOf {
    /// Their start: milliseconds since 1970.
    pub start: i64,
    /// Ticks that each sends.
    pub ticks: u32,
    /// Most windows of one sum: as many as the form bears.
    pub most: u32,
    /// Only keys after this one: 32 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}
