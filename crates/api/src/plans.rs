//! Plans.
//!
//! ```
//! use sotto_api::plans::PutPlan;
//! use sotto_api::{Arrived, Route};
//!
//! let body = br#"{"plan_id": "0c", "steps": 23}"#.to_vec();
//! assert_eq!(PutPlan::read(Arrived { body, headers: Vec::new() })?.plan_id, "0c");
//! # Ok::<(), sotto_api::Unreadable>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::route::route;
use crate::text::name;

/// A plan that was stored.
///
/// Example: [`plans`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeptPlan {
    /// The digest of the plan's frame: 64 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub plan_id: String,
    /// Number of the plan's steps.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub steps: usize,
}

route! {
    /// Stores a plan under the digest of its frame.
    ///
    /// Idempotent.
    PutPlan: Token put "/v1/plans", "the plan", takes frame, gives json KeptPlan;
    request_body(content = crate::schema::Frame, content_type = "application/octet-stream", description = "A frame of kind 5 (plan), at most `largest_plan` bytes of `GET /v1/limits`."),
    responses(
        (status = 200, description = "Stored.", body = KeptPlan),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 422, description = "`unknown-parameters`, `invalid-plan`, `invalid-value`, `wrong-length`"),
        (status = 507, description = "`storage-full`")
    )
}
