//! Evaluation keys.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use sotto_api::keys::{DeleteTransfer, FetchKeys, KeptKeys, KeyStatus, PutKeys};
use sotto_api::reason;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_service::body;

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::id::from_hex;
use crate::problem::Problem;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(PutKeys, put).serve(FetchKeys, status).serve(DeleteTransfer, delete_transfer)
}

async fn put(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<Json<KeptKeys>, Problem> {
    let limit = cloud.config.largest_keys;
    let frame = body::read(request, limit, cloud.config.body_time()).await?;
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

async fn status(
    State(cloud): State<Arc<Cloud>>,
    Path((parameters, key)): Path<(String, String)>,
) -> Result<Json<KeyStatus>, Problem> {
    let unknown =
        || Problem::not_found(reason::UNKNOWN_KEY, "there are no evaluation keys of this secret key");
    let names = (|| Some((from_hex(&parameters)?, from_hex(&key)?)))();
    let (parameters, key) = names.ok_or_else(unknown)?;
    cloud
        .computing(move |cloud| {
            cloud.key_status(ParameterId(parameters), KeyId(key))?.map(Json).ok_or_else(unknown)
        })
        .await
}

async fn delete_transfer(
    State(cloud): State<Arc<Cloud>>,
    Path((parameters, key, from)): Path<(String, String, String)>,
) -> Result<StatusCode, Problem> {
    let unknown = || Problem::not_found(reason::UNKNOWN_KEY, "there is no transfer key between these keys");
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
