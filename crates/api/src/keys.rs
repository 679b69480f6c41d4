//! Evaluation keys.
//!
//! ```
//! use sotto_api::keys::FetchKeys;
//! use sotto_api::{Arrived, Route};
//!
//! let body = br#"{"parameter_id": "01", "key_id": "02", "relinearisation": true, "galois": 2, "rotations": [1, 2],
//!     "swap_rows": false, "row": 2048, "transfers": [], "bytes": 655612, "stored_at": 1795000000000}"#;
//! let status = FetchKeys::read(Arrived { body: body.to_vec(), headers: Vec::new() })?;
//! assert_eq!(status.contents.map(|contents| contents.rotations), Some(vec![1, 2]));
//! # Ok::<(), sotto_api::Unreadable>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::route::route;
use crate::text::{name, names};

/// Evaluation keys that were stored.
///
/// Example: [`keys`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeptKeys {
    /// 64 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub parameter_id: String,
    /// The id of the secret key: 32 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    pub key_id: String,
    /// True if there is a relinearisation key.
    pub relinearisation: bool,
    /// Number of Galois keys, 0 to 64.
    pub galois: usize,
    /// Ids of the secret keys from which ciphertexts can be switched: 0 to 64, each 32 hexadecimal digits.
    #[serde(deserialize_with = "names")]
    pub transfers: Vec<String>,
}

/// The properties of evaluation keys, for the owner.
///
/// Example: [`keys`](self)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeyStatus {
    /// 64 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{64}$"))]
    pub parameter_id: String,
    /// The id of the secret key: 32 lower-case hexadecimal digits.
    #[serde(deserialize_with = "name")]
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9a-f]{32}$"))]
    pub key_id: String,
    /// True if there is a relinearisation key.
    pub relinearisation: bool,
    /// Number of Galois keys, 0 to 64.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub galois: u32,
    /// Bytes of the frame.
    #[cfg_attr(feature = "schema", schema(value_type = i64))]
    pub bytes: u64,
    /// Time of storing: milliseconds since 1970.
    pub stored_at: i64,
    /// Present in every answer. `None` in the store if an older version stored the keys.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schema(value_type = KeyContents))]
    pub contents: Option<KeyContents>,
}

/// Rotations, row swap and transfers of a set of evaluation keys.
///
/// Example: [`keys`](self)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeyContents {
    /// Number of slots in a row: rotations by `s` and by `s - row` are the same.
    pub row: u32,
    /// Steps from `-row / 2 + 1` to `row / 2`, ascending.
    pub rotations: Vec<i32>,
    /// True if the rows can be swapped.
    pub swap_rows: bool,
    /// Ids of the secret keys from which ciphertexts can be switched, ascending.
    #[serde(deserialize_with = "names")]
    pub transfers: Vec<String>,
}

impl KeyStatus {
    /// Returns true if there is a Galois key for a rotation by `step` slots. Steps that differ by a row are equivalent.
    /// A step of 0 means the row swap.
    #[must_use]
    pub fn can_rotate(&self, step: i32) -> bool {
        self.contents.as_ref().is_some_and(|contents| contents.can_rotate(step))
    }
}

impl KeyContents {
    fn can_rotate(&self, step: i32) -> bool {
        let Ok(row) = i32::try_from(self.row) else { return false };
        if step == 0 || row == 0 {
            return step == 0 && self.swap_rows;
        }
        self.rotations.iter().any(|key| key.rem_euclid(row) == step.rem_euclid(row))
    }
}

route! {
    /// Stores evaluation keys; replaces earlier ones for the same secret key.
    ///
    /// Idempotent.
    PutKeys: Token put "/v1/keys", "the evaluation keys", takes frame, gives json KeptKeys;
    request_body(content = crate::schema::Frame, content_type = "application/octet-stream", description = "A frame of kind 4 or 8 (evaluation keys): at most `largest_keys` bytes of `GET /v1/limits`, 64 Galois keys and 64 transfer keys."),
    responses(
        (status = 200, description = "Stored.", body = KeptKeys),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 422, description = "`unknown-parameters`, `unknown-key` (a transfer key leads from a key that no registered device has), `wrong-length`, `residue-out-of-range`, `padding-not-zero`, `invalid-value`"),
        (status = 507, description = "`storage-full`")
    )
}

route! {
    /// Returns the contents of the evaluation keys of a secret key.
    FetchKeys: Token get "/v1/keys/{parameter_id}/{key_id}", "the evaluation keys", gives json KeyStatus;
    params(("parameter_id" = String, Path, description = "64 lower-case hexadecimal digits.", example = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"),
        ("key_id" = String, Path, description = "The id of the secret key: 32 lower-case hexadecimal digits.", example = "00112233445566778899aabbccddeeff")),
    responses(
        (status = 200, description = "The contents.", body = KeyStatus),
        (status = 404, description = "`unknown-key`")
    )
}

route! {
    /// Deletes the transfer key from one secret key to another.
    ///
    /// No further ciphertext can be switched from `from` to this key, and jobs that wait for it fail; ciphertexts that were
    /// switched earlier stay.
    DeleteTransfer: Token delete "/v1/keys/{parameter_id}/{key_id}/transfers/{from}", "the transfer key", gives nothing;
    params(("parameter_id" = String, Path, description = "64 lower-case hexadecimal digits.", example = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"),
        ("key_id" = String, Path, description = "The id of the secret key: 32 lower-case hexadecimal digits.", example = "00112233445566778899aabbccddeeff"),
        ("from" = String, Path, description = "The id of the secret key that the transfer key leads from: 32 lower-case hexadecimal digits.", example = "ffeeddccbbaa99887766554433221100")),
    responses(
        (status = 204, description = "Deleted."),
        (status = 404, description = "`unknown-key`"),
        (status = 422, description = "`unknown-parameters`"),
        (status = 507, description = "`storage-full`")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_differ_by_a_row_are_one() {
        let status = r#"{"parameter_id":"0","key_id":"0","relinearisation":true,"galois":2,"rotations":[-3,8],"swap_rows":false,
            "row":16,"transfers":["00"],"bytes":1,"stored_at":1}"#;
        let status: KeyStatus = serde_json::from_str(status).unwrap();
        assert!([-3, 13, 8, -8].into_iter().all(|step| status.can_rotate(step)));
        assert!(![3, -13, 0, 16, 1].into_iter().any(|step| status.can_rotate(step)));
        let contents = status.contents.clone().map(|keys| KeyContents { swap_rows: true, row: 0, ..keys });
        let swaps = KeyStatus { contents, ..status };
        assert!(swaps.can_rotate(0) && !swaps.can_rotate(1));
    }
}
