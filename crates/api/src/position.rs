//! The position of a device's stream and the heads of its windows, for a device that has lost its spool.
//!
//! ```
//! use sotto_api::position::AskPosition;
//! use sotto_api::{Admission, Arrived, Route};
//!
//! assert_eq!(AskPosition::ADMISSION, Admission::Signature);
//! let position = AskPosition::read(Arrived { body: br#"{"next": 7}"#.to_vec(), headers: Vec::new() })?;
//! assert_eq!((position.next, position.signed_header), (7, None));
//! # Ok::<(), sotto_api::Unreadable>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::route::{Query, present, route};

/// The purpose of a question for a position.
///
/// ```
/// use sotto_api::Query as _;
/// use sotto_api::position::PositionQuery;
///
/// assert_eq!(PositionQuery::default().text(), "");
/// assert_eq!(PositionQuery { order: true }.text(), "?order=true");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct PositionQuery {
    /// True for a device that asks for the owner's orders alone: it has not lost its spool.
    #[serde(default)]
    pub order: bool,
}

impl Query for PositionQuery {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        present([("order", self.order.then(|| "true".to_owned()))])
    }
}

/// The last window of a stream, and the time up to which the owner has deleted windows.
///
/// Example: [`position`](self)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Position {
    /// The sequence number that the next window may have.
    pub next: u64,
    /// The last window's signed header: a frame of kind 18 or 22 in hexadecimal; absent before the first window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_header: Option<String>,
    /// The signed header of the window with the latest reading, if that is another one: the last window may be one of late
    /// readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_header: Option<String>,
    /// The owner's order to delete windows of the stream: a frame of kind 38 in hexadecimal, the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The owner has deleted the windows that ended before this time (ms since 1970); they are refused if sent again. A
    /// device whose bundle has the owner's key goes by the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten_until: Option<i64>,
    /// The owner's last order to accept the stream's log as the cloud has it: a frame of kind 38 in hexadecimal. A device sends
    /// windows again that this log lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

route! {
    /// Returns the position of a stream, to the device that signs the question.
    ///
    /// For a device that has lost its spool. The answer has the device's own signature of its last window, so that the
    /// cloud cannot invent one. The cloud counts such questions for the owner, but for those with `order=true`.
    AskPosition: Signature post "/v1/position", "the position", query PositionQuery, takes frame, gives json Position;
    params(PositionQuery),
    request_body(content = crate::schema::Frame, content_type = "application/octet-stream", description = "A frame of kind 17 (question for a position), at most 1024 bytes, signed by the device at most 24 h from the cloud's clock."),
    responses(
        (status = 200, description = "The position.", body = Position),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 403, description = "`not-admitted` (unknown device, or another signature), `device-revoked`, `clock-apart`"),
        (status = 409, description = "`asked-before` (each signed question is answered once)"),
        (status = 422, description = "`invalid-value`, `wrong-length`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer"),
        (status = 507, description = "`storage-full`")
    )
}

route! {
    /// Returns the heads of a device's windows of a stream, to the device that signs the question.
    ///
    /// For a device that has lost its record of the ticks that it has sent. The answer has windows from the asked number on,
    /// in ascending order, without their bodies and with the device's own signatures: at most 1,000, at most 1 MiB. A window
    /// whose file is damaged is left out.
    AskHeads: Signature post "/v1/heads", "the heads of the stream", takes frame, gives frame;
    request_body(content = crate::schema::Frame, content_type = "application/octet-stream", description = "A frame of kind 36 (question for heads), at most 1024 bytes, signed by the device at most 24 h from the cloud's clock."),
    responses(
        (status = 200, description = "A frame of kind 37 (heads of a stream); it says whether more follow.", body = crate::schema::Frame, content_type = "application/octet-stream"),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 403, description = "`not-admitted` (unknown device, or another signature), `device-revoked`, `clock-apart`"),
        (status = 409, description = "`asked-before` (each signed question is answered once)"),
        (status = 422, description = "`invalid-value`, `wrong-length`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer"),
        (status = 507, description = "`storage-full`")
    )
}
