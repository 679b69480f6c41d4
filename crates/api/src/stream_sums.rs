//! Sums of the windows of a stream of sums.
//!
//! ```
//! use sotto_api::stream_sums::{AddWindows, StreamSumsRequest, SumOfWindows};
//! use sotto_api::Route;
//!
//! // Windows 7 to 9 and 12 of a stream: the sum of all, and the last one by itself.
//! let all = SumOfWindows { windows: (0, 4), parts: vec![0, 1], weights: None };
//! let last = SumOfWindows { windows: (3, 1), parts: vec![0], weights: None };
//! let request = StreamSumsRequest { windows: vec![(7, 3), (12, 1)], sums: vec![all, last] };
//! let body = AddWindows::body(&request).expect("a body");
//! assert!(body.bytes.starts_with(br#"{"windows":[[7,3],[12,1]],"sums":[{"windows":[0,4],"parts":[0,1]}"#));
//! assert_eq!(AddWindows::path(["0102030405060708"]), "/v1/streams/0102030405060708/sums");
//! ```

use serde::{Deserialize, Serialize};

use crate::message::Arrived;
use crate::route::route;
use crate::sums::EVALUATE_US;

/// A request for sums over windows of one stream.
///
/// Example: [`stream_sums`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct StreamSumsRequest {
    /// Runs of windows by their sequence numbers, each the first and their number: at most 2^20 windows. The answer names
    /// their pads in this order.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<Vec<u64>>))]
    pub windows: Vec<(u64, u32)>,
    /// At most 4,096 sums.
    pub sums: Vec<SumOfWindows>,
}

/// One sum.
///
/// Example: [`stream_sums`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SumOfWindows {
    /// Index of the first window among those of the request, and the number of windows.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub windows: (u32, u32),
    /// Numbers of parts of the stream's windows, ascending.
    pub parts: Vec<u8>,
    /// A weight for each window; absent: all are 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<i64>>,
}

/// The sums that the cloud computed.
///
/// Example: [`stream_sums`](self)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSums {
    /// The frame of the sums: claims, until their tags are checked.
    pub frame: Vec<u8>,
    /// Time of reading and adding in microseconds, as the cloud reports it; 0 if it does not.
    pub evaluate_us: u64,
}

impl StreamSums {
    pub(crate) fn read(answer: Arrived<'_>) -> Self {
        let time = answer.values(EVALUATE_US).next().and_then(|time| time.parse().ok());
        Self { frame: answer.body, evaluate_us: time.unwrap_or_default() }
    }
}

route! {
    /// Adds windows of a stream of sums.
    ///
    /// Needs no key and stores nothing. The tags of the sums show their owner that they are the ones that were asked for.
    AddWindows: Token post "/v1/streams/{stream}/sums", "the sums", takes json StreamSumsRequest, gives read StreamSums;
    params(("stream" = String, Path, description = "The first 8 bytes of the hash of the stream's header: 16 lower-case hexadecimal digits.", example = "0606060606060606")),
    request_body(content = StreamSumsRequest, description = "At most 16 MiB.", example = json!({
        "windows": [[0, 30]], "sums": [{ "windows": [0, 30], "parts": [0] }] })),
    responses(
        (status = 200, description = "A frame of kind 33 (sums with tags).",
         body = crate::schema::Frame, content_type = "application/octet-stream", headers(
            ("sotto-evaluate-us" = u64, description = "Microseconds of reading and adding."))),
        (status = 400, description = "`invalid-json`"),
        (status = 404, description = "`unknown-stream`"),
        (status = 422, description = "`unknown-window` (a sequence number that the stream does not have), `wrong-sum`")
    )
}
