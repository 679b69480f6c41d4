//! Uploads by devices, and their receipts.
//!
//! ```
//! use sotto_api::uploads::{Receipt, Receipts, Upload};
//! use sotto_api::{Admission, Route};
//!
//! assert_eq!((Upload::ADMISSION, Upload::PATH), (Admission::Signature, "/v1/envelopes"));
//! // A cloud of an older version signs no receipts.
//! let receipt: Receipt = serde_json::from_str(r#"{"id": "0a", "digest": "0b"}"#)?;
//! assert!(receipt.signature.is_empty() && !Receipts::Group(vec![receipt]).duplicate());
//! # Ok::<(), serde_json::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::route::route;

/// Proof for the device that its envelope is stored durably.
///
/// Example: [`uploads`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// The envelope's id: 32 lower-case hexadecimal digits.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{32}$"))]
    pub id: String,
    /// Digest of the envelope's bytes; for a window in a group, of its head and body: 64 lower-case hexadecimal digits.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub digest: String,
    /// Time of storing: milliseconds since 1970.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub stored_at: i64,
    /// True if it was stored before.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub duplicate: bool,
    /// The window's position in the log of its stream, from 0.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = i64, required = true))]
    pub position: u64,
    /// The cloud's Ed25519 signature over all of this: 128 lower-case hexadecimal digits.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true, pattern = "^[0-9a-f]{128}$"))]
    pub signature: String,
}

/// The answer to an upload: a window's receipt, or those of a group's windows in order.
///
/// Example: [`uploads`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Receipts {
    /// The receipt of a window that came alone.
    Window(Receipt),
    /// The receipts of a group's windows, in order.
    Group(Vec<Receipt>),
}

impl Receipts {
    /// Returns true if everything was stored before.
    #[must_use]
    pub fn duplicate(&self) -> bool {
        match self {
            Self::Window(receipt) => receipt.duplicate,
            Self::Group(receipts) => receipts.iter().all(|receipt| receipt.duplicate),
        }
    }
}

route! {
    /// Stores an envelope, or a group of windows, of a registered device.
    ///
    /// The device's signature in the body admits it; there is no token. The answer has a receipt that the cloud has signed,
    /// or the receipts of a group's windows in order. The same bytes again get the same receipts, so a device sends
    /// until it has an answer; a group is stored whole or not at all.
    Upload: Signature post "/v1/envelopes", "the envelope", takes frame, gives json Receipts;
    params(("Idempotency-Key" = String, Header, description = "`DEVICE.STREAM.SEQUENCE`, of a group `DEVICE.STREAM.FIRST-LAST`: names and numbers as in the signed header, at most 171 bytes.", example = "boiler.temperature.17")),
    request_body(content = crate::schema::Frame, content_type = "application/octet-stream", description = "A frame of kind 6 (envelope), a window of version 2, or a group of 2 to 64 windows: at most `largest_upload` bytes."),
    responses(
        (status = 201, description = "Stored.", body = Receipts),
        (status = 200, description = "Everything was stored before.", body = Receipts),
        (status = 400, description = "`idempotency-key-missing`, `invalid-idempotency-key`, `not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 403, description = "`not-admitted` (unknown device, or another signature), `device-revoked`, `unknown-stream`"),
        (status = 409, description = "`idempotency-key-reused`, `sequence-taken`, `mask-repeated`, `tick-taken`: another window of the stream, whose number the detail has, holds a reading of a channel at a tick of this one; `rolled-up`: this one corrects a window of which the cloud keeps a sum, by the owner's order"),
        (status = 410, description = "`forgotten`: the owner deleted the windows of this time"),
        (status = 422, description = "`idempotency-key-mismatch`, `wrong-parameters`, `wrong-key`, `unknown-parameters`, `wrong-length`, `residue-out-of-range`, `padding-not-zero`, `invalid-value`, `parameters-refused`, `places-not-read`"),
        (status = 429, description = "`device-rate`: more than `device_rate` envelopes a minute"),
        (status = 503, description = "`too-many-uploads` at the same time; `windows-away`: the object store that has windows does not answer"),
        (status = 507, description = "`storage-full`, `device-quota`")
    )
}
