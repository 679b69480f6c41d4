//! Sums of compact ciphertexts.
//!
//! ```
//! use sotto_api::sums::{AddEnvelopes, SumOf, SumsRequest};
//! use sotto_api::{Arrived, Route};
//!
//! // The first 24 places of two windows, added.
//! let sum = SumOf { envelopes: (0, 2), places: (0, 24), weights: None };
//! let request = SumsRequest { envelopes: vec!["0a".repeat(16), "0b".repeat(16)], sums: vec![sum] };
//! assert!(AddEnvelopes::body(&request).expect("a body").bytes.ends_with(br#"{"envelopes":[0,2],"places":[0,24]}]}"#));
//! let headers = vec![("sotto-evaluate-us", "12")];
//! let summed = AddEnvelopes::read(Arrived { body: b"a frame".to_vec(), headers })?;
//! assert_eq!((summed.frame.as_slice(), summed.evaluate_us), (&b"a frame"[..], 12));
//! # Ok::<(), sotto_api::Unreadable>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::message::Arrived;
use crate::route::route;

/// The header with the computing time in microseconds.
pub const EVALUATE_US: &str = "sotto-evaluate-us";
/// The header with the transcript: a frame of kind 29 in hexadecimal.
pub const TRANSCRIPT: &str = "sotto-transcript";

/// A request for sums.
///
/// Example: [`sums`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SumsRequest {
    /// Ids of envelopes, at most 4,096. Their ciphertexts are compact ones of whole numbers, of one form, and under one key
    /// or one mask: one request a device, or a fleet's sums.
    pub envelopes: Vec<String>,
    /// At most 4,096 sums.
    pub sums: Vec<SumOf>,
}

/// One sum.
///
/// Example: [`sums`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = WantedSum))]
#[serde(deny_unknown_fields)]
pub struct SumOf {
    /// Index of the first envelope, and the number of envelopes.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub envelopes: (u32, u32),
    /// Index of the first place, and the number of places: column · ticks + tick, with `columns` and `ticks` of the
    /// envelope's `layout` (readings first, then squares and products; wire.md).
    #[cfg_attr(feature = "schema", schema(value_type = Vec<u16>, min_items = 2, max_items = 2))]
    pub places: (u16, u16),
    /// One flat list: the weights of all places of the first envelope, then of the second, and so on; absent: all are 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<i32>>,
}

/// The sums that the cloud computed.
///
/// Example: [`sums`](self)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summed {
    /// The frame of the sums.
    pub frame: Vec<u8>,
    /// The transcript's frame; empty if the cloud gave none.
    pub transcript: Vec<u8>,
    /// Time of reading and adding in microseconds, as the cloud reports it; 0 if it does not.
    pub evaluate_us: u64,
}

impl Summed {
    pub(crate) fn read(answer: Arrived<'_>) -> Self {
        let transcript = answer.values(TRANSCRIPT).next().and_then(|frame| hex::decode(frame).ok());
        let time = answer.values(EVALUATE_US).next().and_then(|time| time.parse().ok());
        let (transcript, evaluate_us) = (transcript.unwrap_or_default(), time.unwrap_or_default());
        Self { frame: answer.body, transcript, evaluate_us }
    }
}

route! {
    /// Adds compact ciphertexts.
    ///
    /// The envelopes have one form, and one key or one mask. Needs no evaluation keys and stores nothing.
    AddEnvelopes: Token post "/v1/sums", "the sums", takes json SumsRequest, gives read Summed;
    request_body(content = SumsRequest, description = "At most 256 KiB.", example = json!({
        "envelopes": ["0123456789abcdef0123456789abcdef"],
        "sums": [{ "envelopes": [0, 1], "places": [0, 60] }] })),
    responses(
        (status = 200, description = "A frame of kind 20 (compact sums), or of kind 26 (sums over a fleet) where the envelopes are under several keys.",
         body = crate::schema::Frame, content_type = "application/octet-stream", headers(
            ("sotto-evaluate-us" = u64, description = "Microseconds of reading and adding."),
            ("sotto-transcript" = String, description = "The transcript, a frame of kind 29 in hexadecimal."))),
        (status = 400, description = "`invalid-json`, `wrong-kind` (an envelope that is not compact)"),
        (status = 422, description = "`unknown-envelope`, `wrong-sum`, `unknown-parameters`, `invalid-value` (under several keys: a key occurs twice)")
    )
}
