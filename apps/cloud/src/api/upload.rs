//! Uploads by devices.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use sotto_api::uploads::{Receipts, Upload};
use sotto_api::{IDEMPOTENCY_KEY, reason};
use sotto_service::body;
use sotto_wire::LONGEST_UPLOAD_KEY;

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::ingest::{AtOnce, check, check_again, check_at_once, keep};
use crate::problem::Problem;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(Upload, post)
}

async fn post(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<(StatusCode, Json<Receipts>), Problem> {
    let idempotency_key = idempotency_key(request.headers());
    let (limit, longest) = (cloud.config.largest_upload, cloud.config.body_time());
    let (bytes, held) = body::read_within(request, limit, longest, Some(&cloud.uploads)).await?;
    let idempotency_key = idempotency_key?;
    let checked = match check_at_once(&cloud, &idempotency_key, &bytes) {
        AtOnce::Checked(checked) => checked,
        AtOnce::Refused(problem, applied) => {
            let refused =
                move |cloud: &Cloud| check_again(cloud, &idempotency_key, &bytes, (&problem, applied));
            Arc::clone(&cloud).reading(refused).await?
        }
        AtOnce::Unknown => {
            Arc::clone(&cloud).reading(move |cloud| check(cloud, &idempotency_key, &bytes)).await?
        }
    };
    drop(held);
    let receipts = keep(cloud, checked).await?;
    Ok((if receipts.duplicate() { StatusCode::OK } else { StatusCode::CREATED }, Json(receipts)))
}

pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<String, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        let detail = "the request has one Idempotency-Key header, so that it can be sent again safely";
        return Err(Problem::bad_request(reason::IDEMPOTENCY_KEY_MISSING, detail));
    };
    let bytes = value.as_bytes();
    if (1..=LONGEST_UPLOAD_KEY).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic) {
        Ok(String::from_utf8_lossy(bytes).into_owned())
    } else {
        let detail = format!("an idempotency key has 1 to {LONGEST_UPLOAD_KEY} visible ASCII characters");
        Err(Problem::bad_request(reason::INVALID_IDEMPOTENCY_KEY, detail))
    }
}
