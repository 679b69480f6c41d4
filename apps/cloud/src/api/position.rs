//! The position of a device's stream, for a device that has lost its spool.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use sotto_api::position::{AskPosition, Position};
use sotto_api::reason;
use sotto_service::body;
use sotto_wire::{LARGEST_POSITION_REQUEST, PositionRequest};

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::ingest;
use crate::problem::Problem;
use crate::store::milliseconds;

/// Maximum difference between the clocks of device and cloud: a day, in milliseconds.
const MOST_APART: i64 = 86_400_000;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(AskPosition, post)
}

async fn post(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<Json<Position>, Problem> {
    let frame = body::read(request, LARGEST_POSITION_REQUEST, cloud.config.body_time()).await?;
    cloud.computing(move |cloud| position(cloud, &PositionRequest::read(&frame)?).map(Json)).await
}

/// Checks the signature and the time of a question.
fn check(cloud: &Cloud, asked: &PositionRequest) -> Result<(), Problem> {
    ingest::known(cloud, &asked.device, |key| asked.verify(key), |_| Ok(()))?;
    let now = milliseconds(std::time::SystemTime::now());
    if now.abs_diff(asked.asked_at) > MOST_APART.unsigned_abs() {
        let detail = "the clocks of the device and of the cloud are more than a day apart: set them right";
        return Err(Problem::forbidden(reason::CLOCK_APART, detail));
    }
    Ok(())
}

fn position(cloud: &Cloud, asked: &PositionRequest) -> Result<Position, Problem> {
    let PositionRequest { device, stream, asked_at, .. } = asked;
    check(cloud, asked)?;
    let [last, latest] = cloud.store.last_headers(device, stream)?;
    let forgotten = cloud.store.forgotten(device, stream)?;
    if last.is_some() || forgotten.is_some() {
        tracing::warn!(device, stream, "the device has lost its spool, and asks where it stood");
        cloud.store.note_recovery(device, stream, *asked_at)?;
    }
    let after = |sequence: u64| sequence.saturating_add(1);
    let last_sequence = last.as_ref().map_or(0, |last| after(last.header().sequence));
    let forgotten_sequence = forgotten.map_or(0, |forgotten| after(forgotten.sequence.unsigned_abs()));
    let [signed_header, latest_header] =
        [last, latest].map(|header| header.map(|header| hex::encode(header.write())));
    Ok(Position {
        next: last_sequence.max(forgotten_sequence),
        signed_header,
        latest_header,
        forgotten_until: forgotten.map(|forgotten| forgotten.until),
    })
}
