//! Sums of compact ciphertexts.

use serde::{Deserialize, Serialize};

/// The sums that the cloud computed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summed {
    /// The frame of the sums.
    pub frame: Vec<u8>,
    /// The transcript's frame; empty if the cloud gave none.
    pub transcript: Vec<u8>,
    /// Time of reading and adding in microseconds, as the cloud reports it.
    pub evaluate_us: u64,
}

/// One requested sum of envelopes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumOf {
    /// The first envelope, from 0, and the number of envelopes.
    pub envelopes: (u32, u32),
    /// The first place and the number of places.
    pub places: (u16, u16),
    /// A weight for each place of each envelope. None: every weight is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<i32>>,
}

/// A request for sums of a fleet's windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FleetSumsOf {
    /// The start of the windows, in milliseconds since 1970.
    pub start: i64,
    /// Number of ticks that each window sends.
    pub ticks: u32,
    /// Largest number of windows per sum, at most the form's limit.
    pub most: u32,
    /// Only keys after this one: 32 hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}
