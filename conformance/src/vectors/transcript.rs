//! The cases of `transcripts`.

use serde::Deserialize;

/// The file `transcripts`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcripts {
    pub cloud_secret: String,
    pub parameter_id: String,
    pub time: i64,
    pub trees: Vec<String>,
    pub receipt: ReceiptAnswer,
    pub head: String,
    pub job: String,
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
