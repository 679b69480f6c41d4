//! Sums of compact ciphertexts.

use serde::{Deserialize, Serialize};

/// The sums that the cloud computed.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::{SumOf, Summed};
/// # let (cloud, _) = stand_in::serve(vec![stand_in::answer(200, "sotto-evaluate-us: 12\r\n", "a frame")]);
///
/// // The first 24 places of two windows, added.
/// let sum = SumOf { envelopes: (0, 2), places: (0, 24), weights: None };
/// let summed: Summed = cloud.sums(&["window-7", "window-8"], &[sum])?;
/// assert_eq!((summed.frame.as_slice(), summed.evaluate_us), (&b"a frame"[..], 12));
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
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
///
/// Example: [`Summed`]
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
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::FleetSumsOf;
/// # let (cloud, requests) = stand_in::serve(vec![stand_in::ok("a frame")]);
///
/// // All windows of the fleet that start at this time and have 24 ticks.
/// let sums = FleetSumsOf { start: 1_795_000_000_000, ticks: 24, most: 4096, after: None };
/// let fleet = "000102030405060708090a0b0c0d0e0f";
/// assert_eq!(cloud.fleet_sums(fleet, &sums)?.frame, b"a frame");
/// # let request = format!("POST /v1/fleets/{fleet}/sums HTTP/1.1");
/// # assert_eq!(requests.lock().expect("no panic")[0], request);
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
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
