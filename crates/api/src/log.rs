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
use crate::text::{self, id};

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
    /// Maximum number of windows: 100 by default, 1000 at most.
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

/// Part of a log.
///
/// ```
/// use sotto_api::log::LogPage;
///
/// let leaf = "01".repeat(32);
/// let page = format!(r#"{{"head": "a5a5", "windows": [{{"sequence": 7, "leaf": "{leaf}", "bytes": 937}}]}}"#);
/// let page: LogPage = serde_json::from_str(&page)?;
/// assert_eq!((page.head.as_slice(), page.windows[0].leaf), (&[0xa5, 0xa5][..], [1; 32]));
/// assert_eq!(page.windows[0].id, None, "the owner deleted the envelope");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LogPage {
    /// The log's head, signed by the cloud: a frame of kind 28 in hexadecimal.
    #[serde(with = "text::bytes")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub head: Vec<u8>,
    /// Windows, from the requested position on.
    pub windows: Vec<LoggedWindow>,
}

/// A window of a log.
///
/// Example: [`LogPage`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = LogWindow))]
pub struct LoggedWindow {
    /// The window's sequence number, 0 to 2^63 - 1.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub sequence: u64,
    /// The window's leaf in the log's tree: 64 lower-case hexadecimal digits.
    #[serde(with = "text::digest")]
    #[cfg_attr(feature = "schema", schema(value_type = String, pattern = "^[0-9a-f]{64}$"))]
    pub leaf: [u8; 32],
    /// The envelope's id; absent once the owner has deleted it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "id")]
    pub id: Option<String>,
    /// The window's signed header: a frame of kind 18 or 22 in hexadecimal; absent if the window was deleted or cannot
    /// be read.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "text::optional_bytes")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub signed: Option<Vec<u8>>,
    /// Bytes of the window's upload; 0 once it is deleted.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub bytes: u64,
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
    /// A page has fewer windows than requested if the log ends, or if their messages exceed 64 MiB; it has at least one
    /// window if any is left. A stream without windows, or one that does not exist, has
    /// a log of size 0.
    FetchLog: Token get "/v1/log", "the log of a stream", query LogQuery, gives json LogPage;
    params(LogQuery),
    responses(
        (status = 200, description = "A part of the log.", body = LogPage),
        (status = 422, description = "`invalid-name`")
    )
}

route! {
    /// Returns the public key that verifies the cloud's signatures.
    ///
    /// The cloud signs receipts, heads of logs and transcripts.
    FetchIdentity: Token get "/v1/identity", "the cloud's key", gives json PublicIdentity;
    responses((status = 200, description = "The key.", body = PublicIdentity))
}
