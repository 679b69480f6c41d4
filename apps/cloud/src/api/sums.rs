//! Sums of compact ciphertexts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use sotto_api::FRAME;
use sotto_api::sums::{AddEnvelopes, EVALUATE_US, SumsRequest, TRANSCRIPT};
use sotto_service::body;
use sotto_wire::Transcript;

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::sums;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(AddEnvelopes, post)
}

async fn post(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<impl IntoResponse, Problem> {
    let wanted: SumsRequest = body::json(request, cloud.config.body_time()).await?;
    let ((frame, transcript), time) = cloud
        .computing(move |cloud| {
            let begin = Instant::now();
            Ok((sums::sums(cloud, &wanted)?, begin.elapsed()))
        })
        .await?;
    timed(frame, Some(&transcript), time)
}

/// Returns an answer with a frame, its transcript, and the time of the computation.
pub(super) fn timed(
    frame: Vec<u8>,
    transcript: Option<&Transcript>,
    time: Duration,
) -> Result<impl IntoResponse + use<>, Problem> {
    let time = HeaderValue::from(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    let mut headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static(FRAME)),
        (HeaderName::from_static(EVALUATE_US), time),
    ]);
    if let Some(transcript) = transcript {
        let text =
            HeaderValue::try_from(hex::encode(transcript.write()?)).map_err(|_| Problem::internal())?;
        headers.insert(HeaderName::from_static(TRANSCRIPT), text);
    }
    Ok((headers, frame))
}
