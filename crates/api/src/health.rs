//! Health of the cloud, and the description of its interface.
//!
//! ```
//! use sotto_api::health::FetchReadiness;
//! use sotto_api::{Admission, Route};
//!
//! assert_eq!((FetchReadiness::PATH, FetchReadiness::ADMISSION), ("/readyz", Admission::Anybody));
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::route::route;

/// A process that runs.
///
/// Example: [`health`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Alive {
    /// Always `alive`.
    pub status: String,
}

impl Default for Alive {
    fn default() -> Self {
        Self { status: "alive".to_owned() }
    }
}

/// A store that answers.
///
/// Example: [`health`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Ready {
    /// Always `ready`.
    pub status: String,
    /// Number of rows whose file is missing, counted at the start: above 0 the store is damaged.
    pub missing_bodies: usize,
    /// Number of files without a row, which the cloud has put aside.
    pub orphans: usize,
}

route! {
    /// Answers while the process runs.
    ///
    /// Reads nothing from the disk. Without an answer, start the process again.
    FetchHealth: Anybody get "/healthz", "the cloud's health", gives json Alive;
    responses((status = 200, description = "The process runs.", body = Alive))
}

route! {
    /// Answers if the store can serve requests.
    ///
    /// Send requests here only if it does, and raise an alarm if `missing_bodies` is not 0.
    FetchReadiness: Anybody get "/readyz", "the cloud's readiness", gives json Ready;
    responses(
        (status = 200, description = "The store answers.", body = Ready),
        (status = 503, description = "`not-ready`: the store does not answer")
    )
}

route! {
    /// Returns this document.
    ///
    /// It has nothing of the configuration, the version of the program, or stored data.
    FetchDocument: Anybody get "/v1/openapi.json", "the description of the interface", gives json Value;
    responses(
        (status = 200, description = "OpenAPI 3.1.", body = Object, content_type = "application/json")
    )
}
