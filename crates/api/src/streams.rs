//! Sums of the windows of a stream of sums.
//!
//! ```
//! use sotto_api::{Arrived, Route};
//! use sotto_api::streams::{AddWindows, PartsOf, WindowsOf};
//!
//! // Windows 100 to 147 and 200, and their sum: the first part, each window once.
//! let sum = PartsOf { windows: (0, 49), parts: vec![0], weights: None };
//! let request = WindowsOf { windows: vec![(100, 48), (200, 1)], sums: vec![sum] };
//! let body = AddWindows::body(&request).expect("a body");
//! assert_eq!(&body.bytes[..], br#"{"windows":[[100,48],[200,1]],"sums":[{"windows":[0,49],"parts":[0]}]}"#);
//! assert_eq!(AddWindows::path(["0011223344556677"]), "/v1/streams/0011223344556677/sums");
//! let headers = vec![("sotto-evaluate-us", "12")];
//! let summed = AddWindows::read(Arrived { body: b"a frame".to_vec(), headers })?;
//! assert_eq!((summed.frame.as_slice(), summed.evaluate_us), (&b"a frame"[..], 12));
//! # Ok::<(), sotto_api::Unreadable>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::message::Arrived;
use crate::route::route;

/// Maximum bytes of a request: 32 MiB.
pub const LARGEST_REQUEST: u64 = 32 << 20;
/// The header with the computing time in microseconds.
pub const EVALUATE_US: &str = "sotto-evaluate-us";

/// A request for sums of windows of one stream.
///
/// Example: [`streams`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = StreamSumsRequest))]
#[serde(deny_unknown_fields)]
pub struct WindowsOf {
    /// Runs of windows: the first sequence number, and the number of windows with consecutive numbers. Together at most
    /// 2^20 windows, in any order.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<Vec<u64>>))]
    pub windows: Vec<(u64, u32)>,
    /// At most 4,096 sums.
    pub sums: Vec<PartsOf>,
}

/// One sum of some of the windows.
///
/// Example: [`streams`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = StreamSum))]
#[serde(deny_unknown_fields)]
pub struct PartsOf {
    /// Index of the first window in the list of all windows, and the number of windows.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub windows: (u32, u32),
    /// The parts, ascending: at least one, at most 16.
    pub parts: Vec<u8>,
    /// A weight for each window; absent: all are 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<i64>>,
}

/// The sums that the cloud computed.
///
/// Example: [`streams`](self)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summed {
    /// The frame of the sums.
    pub frame: Vec<u8>,
    /// Time of reading and adding in microseconds, as the cloud reports it; 0 if it does not.
    pub evaluate_us: u64,
}

impl Summed {
    pub(crate) fn read(answer: Arrived<'_>) -> Self {
        let time = answer.values(EVALUATE_US).next().and_then(|time| time.parse().ok());
        Self { frame: answer.body, evaluate_us: time.unwrap_or_default() }
    }
}

route! {
    /// Adds windows of a stream of sums.
    ///
    /// All sums together have at most 2^22 additions of parts and take at most 16 MiB. Stores nothing. The answer has no
    /// transcript: its tags prove the sums to the owner.
    AddWindows: Token post "/v1/streams/{stream}/sums", "the sums", takes json WindowsOf, gives read Summed;
    params(("stream" = String, Path, description = "The stream's tag: 16 lower-case hexadecimal digits, the first of the hash of its header.", example = "0011223344556677")),
    request_body(content = WindowsOf, description = "At most 32 MiB.", example = json!({
        "windows": [[100, 48], [200, 1]],
        "sums": [{ "windows": [0, 49], "parts": [0] }] })),
    responses(
        (status = 200, description = "A frame of kind 33 (sums with tags).",
         body = crate::schema::Frame, content_type = "application/octet-stream", headers(
            ("sotto-evaluate-us" = u64, description = "Microseconds of reading and adding."))),
        (status = 400, description = "`invalid-json`"),
        (status = 404, description = "`unknown-stream`: no stream of sums has this tag"),
        (status = 410, description = "`body-dropped`: a window that was still open then; the whole window has its readings"),
        (status = 422, description = "`unknown-envelope`: the stream has no window with a number, which the detail names; `wrong-sum`"),
        (status = 503, description = "`windows-away`: the object store that has windows does not answer")
    )
}
