//! Sums over all windows of a fleet under one mask.
//!
//! ```
//! use sotto_api::Route;
//! use sotto_api::fleets::{AddFleet, FleetSumsOf};
//!
//! // All windows of the fleet that start at this time and have 24 ticks.
//! let sums = FleetSumsOf { start: 1_795_000_000_000, ticks: 24, most: 4096, after: None };
//! let body = AddFleet::body(&sums).expect("a body");
//! assert_eq!(&body.bytes[..], br#"{"start":1795000000000,"ticks":24,"most":4096}"#);
//! assert_eq!(AddFleet::path(["06"]), "/v1/fleets/06/sums");
//! ```

use serde::{Deserialize, Serialize};

use crate::route::route;
use crate::sums::Summed;

/// A request for sums over the windows of a fleet that start at `start`.
///
/// Example: [`fleets`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = FleetSumsRequest))]
#[serde(deny_unknown_fields)]
pub struct FleetSumsOf {
    /// Start of the windows: milliseconds since 1970, at least 0.
    pub start: i64,
    /// Number of ticks of each window, from 1: `ticks` of its `layout`, which a short or long day rounds up. Windows with
    /// another number are not summed.
    pub ticks: u32,
    /// Maximum number of windows in one sum, from 1; the form of the windows limits how many keep their values apart.
    pub most: u32,
    /// Only keys after this one, in hexadecimal: the last key of the previous answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

route! {
    /// Adds the windows of a fleet that share one mask, in the order of their keys.
    ///
    /// One answer has whole sums of up to 2^16 windows, 4,096 sums or 16 MiB; it reads at most 64 MiB of bodies. An answer
    /// with fewer windows than that is the last; for the others, ask again with `after`. Stores nothing.
    AddFleet: Token post "/v1/fleets/{id}/sums", "the sums", takes json FleetSumsOf, gives read Summed;
    params(("id" = String, Path, description = "The fleet's id: 32 lower-case hexadecimal digits.", example = "06060606060606060606060606060606")),
    request_body(content = FleetSumsOf, description = "At most 256 KiB.", example = json!({
        "most": 1000, "start": 1767225600000_i64, "ticks": 60 })),
    responses(
        (status = 200, description = "A frame of kind 26 (sums over a fleet).",
         body = crate::schema::Frame, content_type = "application/octet-stream", headers(
            ("sotto-evaluate-us" = u64, description = "Microseconds of reading and adding."),
            ("sotto-transcript" = String, description = "The transcript, a frame of kind 29 in hexadecimal."))),
        (status = 400, description = "`invalid-json`"),
        (status = 404, description = "`unknown-fleet`"),
        (status = 422, description = "`wrong-sum`: no such start, number of ticks, key or `most`")
    )
}
