//! The routes under `/api`; apps/sotto/page/src/api.ts states their bodies.

mod alarms;
mod answers;
mod ask;
mod devices;
mod keys;
mod plant;
mod questions;
mod session;
mod what_if;
mod windows;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::Router;
use axum::routing::{delete, get, post, put};
use serde_json::Value;
use sotto_owner::{Interrupt, OwnerError, Plant};

use super::Console;
use super::refusal::Refusal;

/// The body of an answer.
type Answered = Result<Json<Value>, Refusal>;

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/api/session", post(session::begin))
        .route("/api/code", post(session::code))
        .route("/api/lock", post(session::lock))
        .route("/api/licences", get(session::licences))
        .route("/api/plant", get(plant::plant))
        .route("/api/now", get(plant::now))
        .route("/api/events", get(plant::events))
        .route("/api/ask", post(ask::ask))
        .route("/api/explain", post(ask::explain))
        .route("/api/export/{format}", post(ask::export))
        .route("/api/check", post(questions::check))
        .route("/api/complete", post(questions::complete))
        .route("/api/questions", post(questions::declare))
        .route("/api/questions/{name}", delete(questions::remove))
        .route("/api/dashboards/{name}", put(questions::dashboard))
        .route("/api/answers", get(answers::answers))
        .route("/api/answers/{name}/verify", post(answers::verify))
        .route("/api/alarms", get(alarms::alarms))
        .route("/api/alarms/{name}/mute", post(alarms::mute))
        .route("/api/alarms/{name}/unmute", post(alarms::unmute))
        .route("/api/alarms/{name}/acknowledge", post(alarms::acknowledge))
        .route("/api/plan", post(what_if::plan))
        .route("/api/keys", get(keys::keys))
        .route("/api/devices", post(devices::add))
        .route("/api/devices/{name}", get(devices::page))
        .route("/api/devices/{name}/windows", get(windows::list))
        .route("/api/devices/{name}/windows/{stream}/{number}", get(windows::window))
        .route("/api/devices/{name}/renew", post(devices::renew))
        .route("/api/devices/{name}/qr", post(devices::qr))
        .route("/api/devices/{name}/rename", post(devices::rename))
        .route("/api/devices/{name}/remove", post(devices::remove))
        .fallback(|| async { Refusal::new(axum::http::StatusCode::NOT_FOUND, "there is no such page") })
}

/// Refuses a device that `sotto.toml` does not declare: names become paths in the folder.
fn is_declared(plant: &Plant, device: &str) -> Result<(), Refusal> {
    if plant.settings().devices.contains_key(device) {
        return Ok(());
    }
    Err(OwnerError::NotDeclared { kind: "device", name: device.to_owned() }.into())
}

/// Tells that a request is gone when it is dropped.
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs work on the plant, away from the threads that serve.
async fn on_plant<T: Send + 'static>(
    console: &Arc<Console>,
    work: impl FnOnce(Plant) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let console = Arc::clone(console);
    let stopped = || Refusal::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, "the console ends");
    let permit = Arc::clone(&console.others).acquire_owned().await.map_err(|_| stopped())?;
    let gone = Gone(Arc::new(AtomicBool::new(false)));
    let is_gone = Arc::clone(&gone.0);
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let interrupt = Interrupt::when(move || is_gone.load(Ordering::Relaxed));
        work(console.plant()?.interrupted_by(interrupt))
    })
    .await;
    done.unwrap_or_else(|error| {
        let reason = format!("the work on this request failed: {error}");
        Err(Refusal::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, reason))
    })
}

/// As [`on_plant`], for work that writes: refused if the console only reads. The page hears of the change at once.
async fn writing<T: Send + 'static>(
    console: &Arc<Console>,
    work: impl FnOnce(Plant) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    if console.read_only {
        return Err(Refusal::read_only());
    }
    let done = on_plant(console, work).await?;
    super::now::written(console);
    let console = Arc::clone(console);
    tokio::spawn(async move { super::now::refresh(&console).await });
    Ok(done)
}
