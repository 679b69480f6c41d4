//! Parameter sets that the cloud may compute with.
//!
//! ```
//! use sotto_api::Route;
//! use sotto_api::parameters::PutParameters;
//!
//! let body = PutParameters::body(b"a frame").expect("a body");
//! assert_eq!((body.media, &body.bytes[..]), ("application/octet-stream", &b"a frame"[..]));
//! ```

use serde::{Deserialize, Serialize};

use crate::route::route;
use crate::text::name;

/// Parameters that were stored.
///
/// Example: [`parameters`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeptParameters {
    /// 64 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub parameter_id: String,
    /// `bfv`, `bgv` or `ckks`.
    #[serde(deserialize_with = "name")]
    pub scheme: String,
}

route! {
    /// Stores parameters; refuses those below 128-bit security.
    ///
    /// Idempotent.
    PutParameters: Token put "/v1/parameters", "the parameters", takes frame, gives json KeptParameters;
    request_body(content = crate::schema::Frame, content_type = "application/octet-stream", description = "A frame of kind 1 (parameters), at most 4096 bytes."),
    responses(
        (status = 200, description = "Stored.", body = KeptParameters),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 422, description = "`parameters-refused` (below 128 bits, or not valid), `invalid-value`, `wrong-length`"),
        (status = 507, description = "`storage-full`")
    )
}
