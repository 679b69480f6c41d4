//! The command `compare`: encrypted readings against a public limit.

use serde::{Deserialize, Serialize};

use crate::values::Values;

/// The methods that engines compare with; an engine has some of them.
pub const METHODS: [&str; 6] = ["table", "sign", "switch", "table-bootstrap", "lwe-sign", "integer"];

/// Readings to encrypt and compare with a limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compare {
    /// How to compare: one of [`METHODS`].
    pub method: String,
    /// The scheme, for methods that an engine has in several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// The readings; an evaluation takes as many of them as fit.
    pub readings: Values,
    /// The smallest and the largest reading that a device may send.
    pub range: [f64; 2],
    /// The limit, which the evaluating party knows.
    pub limit: f64,
    /// For reals: the smallest distance from the limit that must be told; 0 for whole readings.
    #[serde(default)]
    pub gap: f64,
    /// The largest distance of an answer from 0 or 1 that decides; readings nearer to the limit than `gap` may exceed
    /// it.
    pub tolerance: f64,
    /// The fewest evaluations.
    pub least: u32,
    /// The most evaluations.
    pub most: u32,
    /// After the fewest evaluations, no further one begins once they took this long together.
    pub seconds: f64,
}

/// Answer to `compare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The scheme, such as `bfv` or `tfhe`.
    pub scheme: String,
    /// n of the ring that holds the readings.
    pub n: usize,
    /// The parameters that matter, for people.
    pub parameters: String,
    /// log2 of the whole modulus, if the security of a ring follows from it.
    #[serde(default)]
    pub log2_qp: Option<f64>,
    /// The bits of security that the library states.
    #[serde(default)]
    pub security: Option<u32>,
    /// Readings in one evaluation.
    pub batch: usize,
    /// The decrypted answers of the first readings, in their order: 1 above the limit, 0 otherwise, or approximations.
    pub answers: Values,
    /// The microseconds of each evaluation.
    pub microseconds: Vec<f64>,
    /// The microseconds that the engine's process was on a processor in each evaluation, if the system tells.
    #[serde(default)]
    pub processor: Vec<f64>,
    /// Bytes of one evaluation's encrypted readings, in the smallest form in which a device can send them.
    pub bytes_readings: u64,
    /// Bytes of one evaluation's answer.
    pub bytes_answer: u64,
    /// Bytes of the keys for the evaluation, in the smallest form in which they can be sent.
    pub bytes_keys: u64,
    /// True if the method is exact, apart from a stated negligible probability.
    pub exact: bool,
}
