//! Logs of streams, and the key that signs them.
//!
//! ```
//! use sotto_api::Query as _;
//! use sotto_api::log::LogQuery;
//!
//! let query = LogQuery { device: "cellar".into(), stream: "boiler".into(), from: 7, limit: Some(500) };
//! assert_eq!(query.text(), "?device=cellar&stream=boiler&from=7&limit=500");
//! ```

use serde::{Deserialize, Serialize};

use crate::route::{Query, present, route};
use crate::text;

/// Selects a part of a log.
///
/// Example: [`log`](self)
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct LogQuery {
    /// The device's name: 1 to 64 of `A-Z a-z 0-9 _ . -`.
    #[cfg_attr(feature = "schema", param(example = "boiler"))]
    pub device: String,
    /// The stream's name: 1 to 64 of `A-Z a-z 0-9 _ . -`.
    #[cfg_attr(feature = "schema", param(example = "temperature"))]
    pub stream: String,
    /// The first position, from 0.
    #[serde(default)]
    pub from: u64,
    /// Maximum number of windows: by default as many as a page holds, at most 16,384.
    pub limit: Option<u32>,
}

impl Query for LogQuery {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        present([
            ("device", Some(self.device.clone())),
            ("stream", Some(self.stream.clone())),
            ("from", Some(self.from.to_string())),
            ("limit", self.limit.map(|limit| limit.to_string())),
        ])
    }
}

/// The cloud's public key.
///
/// Example: [`Route`](crate::Route)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PublicIdentity {
    /// An Ed25519 key: 64 lower-case hexadecimal digits.
    #[serde(with = "text::digest")]
    #[cfg_attr(feature = "schema", schema(value_type = String, pattern = "^[0-9a-f]{64}$"))]
    pub verifying_key: [u8; 32],
}

route! {
    /// Returns the signed head of a stream's log, and its windows from a position on.
    ///
    /// A page has fewer windows than requested if the log ends, if it is full, or where a group would be cut; it has at least
    /// one window if any is left. A stream without windows, or one that does not exist, has
    /// a log of size 0.
    FetchLog: Token get "/v1/log", "the log of a stream", query LogQuery, gives frame;
    params(LogQuery),
    responses(
        (status = 200, description = "A frame of kind 39 (a page of a log), at most 8 MiB.", body = crate::schema::Frame, content_type = "application/octet-stream"),
        (status = 422, description = "`invalid-name`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer")
    )
}

route! {
    /// Returns the public key that verifies the cloud's signatures.
    ///
    /// The cloud signs receipts, heads of logs and transcripts.
    FetchIdentity: Token get "/v1/identity", "the cloud's key", gives json PublicIdentity;
    responses((status = 200, description = "The key.", body = PublicIdentity))
}
