//! The cases of `transcripts`.

use serde::Deserialize;

/// The file `transcripts`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcripts {
    pub cloud_secret: String,
    pub device_secrets: Vec<String>,
    pub parameter_id: String,
    pub degree: usize,
    pub prime: u64,
    pub plain_modulus: u64,
    pub width: u32,
    pub time: i64,
    pub trees: Vec<String>,
    pub receipt: ReceiptAnswer,
    pub head: String,
    pub job: String,
    pub fleet_requests: Vec<FleetRequestAnswer>,
    pub sums: Vec<SumsAnswer>,
}

/// A receipt of window `sequence` of stream `climate` of device `boiler`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptAnswer {
    pub sequence: u64,
    pub digest: String,
    pub position: u64,
    pub stored_at: i64,
    pub message: String,
    pub signature: String,
}

/// The digest of a request for sums over a fleet.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetRequestAnswer {
    pub after: Option<String>,
    pub request: String,
}

/// Windows, a request for sums of them, the frame of the sums and its transcript.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SumsAnswer {
    pub messages: Vec<String>,
    pub leaves: Vec<String>,
    pub bodies: Vec<Vec<u64>>,
    pub sums: Vec<RequestedSum>,
    pub request: String,
    pub answer: String,
    pub transcript: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedSum {
    pub envelopes: (u32, u32),
    pub places: (u16, u16),
    pub weights: Option<Vec<i32>>,
}
