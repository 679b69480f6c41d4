//! Evaluation keys.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use serde::Serialize;
use sotto_rlwe::{KeyId, ParameterId};
use utoipa::ToSchema;

use sotto_service::body;

use super::document::Frame;
use crate::cloud::Cloud;
use crate::id::from_hex;
use crate::problem::Problem;
use crate::store::KeyStatus;

/// Evaluation keys that were stored.
#[derive(Serialize, ToSchema)]
pub(super) struct KeptKeys {
    /// 64 lower-case hexadecimal digits.
    parameter_id: String,
    /// The id of the secret key: 32 lower-case hexadecimal digits.
    key_id: String,
    /// True if there is a relinearisation key.
    relinearisation: bool,
    /// Number of Galois keys, 0 to 64.
    galois: usize,
    /// Ids of the secret keys from which ciphertexts can be switched: 0 to 64, each 32 hexadecimal digits.
    transfers: Vec<String>,
}

/// Stores evaluation keys; replaces earlier ones for the same secret key.
///
/// Idempotent.
#[utoipa::path(put, path = "/v1/keys",
    request_body(content = Frame, content_type = "application/octet-stream", description = "A frame of kind 4 or 8 (evaluation keys): at most `largest_keys` bytes of `GET /v1/limits`, 64 Galois keys and 64 transfer keys."),
    responses(
        (status = 200, description = "Stored.", body = KeptKeys),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 422, description = "`unknown-parameters`, `unknown-key` (a transfer key leads from a key that no registered device has), `wrong-length`, `residue-out-of-range`, `padding-not-zero`, `invalid-value`"),
        (status = 507, description = "`storage-full`")
))]
pub(super) async fn put(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<Json<KeptKeys>, Problem> {
    let limit = cloud.config.largest_keys;
    let frame = body::read(request, limit, cloud.config.body_time).await?;
    cloud
        .computing(move |cloud| {
            let (parameters, key) = sotto_wire::evaluation_keys_header(&frame, limit)?;
            let keys = cloud.params(parameters)?.read_keys(&frame)?;
            let answer = KeptKeys {
                parameter_id: parameters.to_string(),
                key_id: key.to_string(),
                relinearisation: keys.relinearisation,
                galois: keys.galois,
                transfers: keys.transfers.iter().map(KeyId::to_string).collect(),
            };
            cloud.keep_keys(parameters, keys, &frame)?;
            Ok(Json(answer))
        })
        .await
}

/// Returns the contents of the evaluation keys of a secret key.
#[utoipa::path(get, path = "/v1/keys/{parameter_id}/{key_id}", params(("parameter_id" = String, Path, description = "64 lower-case hexadecimal digits.", example = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"),
        ("key_id" = String, Path, description = "The id of the secret key: 32 lower-case hexadecimal digits.", example = "00112233445566778899aabbccddeeff")), responses(
    (status = 200, description = "The contents.", body = KeyStatus),
    (status = 404, description = "`unknown-key`")
))]
pub(super) async fn status(
    State(cloud): State<Arc<Cloud>>,
    Path((parameters, key)): Path<(String, String)>,
) -> Result<Json<KeyStatus>, Problem> {
    let unknown = || Problem::not_found("unknown-key", "there are no evaluation keys of this secret key");
    let names = (|| Some((from_hex(&parameters)?, from_hex(&key)?)))();
    let (parameters, key) = names.ok_or_else(unknown)?;
    cloud
        .computing(move |cloud| {
            cloud.key_status(ParameterId(parameters), KeyId(key))?.map(Json).ok_or_else(unknown)
        })
        .await
}

/// Deletes the transfer key from one secret key to another.
///
/// No further ciphertext can be switched from `from` to this key, and jobs that wait for it fail; ciphertexts that were
/// switched earlier stay.
#[utoipa::path(delete, path = "/v1/keys/{parameter_id}/{key_id}/transfers/{from}",
    params(("parameter_id" = String, Path, description = "64 lower-case hexadecimal digits.", example = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"),
        ("key_id" = String, Path, description = "The id of the secret key: 32 lower-case hexadecimal digits.", example = "00112233445566778899aabbccddeeff"),
        ("from" = String, Path, description = "The id of the secret key that the transfer key leads from: 32 lower-case hexadecimal digits.", example = "ffeeddccbbaa99887766554433221100")),
    responses(
    (status = 204, description = "Deleted."),
    (status = 404, description = "`unknown-key`"),
    (status = 422, description = "`unknown-parameters`"),
    (status = 507, description = "`storage-full`")
))]
pub(super) async fn delete_transfer(
    State(cloud): State<Arc<Cloud>>,
    Path((parameters, key, from)): Path<(String, String, String)>,
) -> Result<StatusCode, Problem> {
    let unknown = || Problem::not_found("unknown-key", "there is no transfer key between these keys");
    let names = (|| Some((from_hex(&parameters)?, from_hex(&key)?, from_hex(&from)?)))();
    let (parameters, key, from) = names.ok_or_else(unknown)?;
    cloud
        .computing(move |cloud| {
            if !cloud.delete_transfer(ParameterId(parameters), KeyId(key), KeyId(from))? {
                return Err(unknown());
            }
            tracing::info!(key = %KeyId(key), from = %KeyId(from), "transfer key deleted");
            Ok(StatusCode::NO_CONTENT)
        })
        .await
}
