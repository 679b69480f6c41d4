//! The plant as it is declared, and *Now*.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use sotto_owner::Plant;

use super::super::guard::key;
use super::super::refusal::Refusal;
use super::super::{Console, lines, now};
use super::questions::{by, zooms};
use super::{Answered, on_plant};
use crate::plant::parameters_of;

/// The time after which *Now* is sent again without a change.
const AGAIN: Duration = Duration::from_secs(15);
/// The dashboard that is there always.
const MAIN: &str = "main";

pub(in super::super) async fn plant(State(console): State<Arc<Console>>) -> Answered {
    let of = Arc::clone(&console);
    on_plant(&console, move |plant| Ok(Json(described(&plant, &of)))).await
}

fn described(plant: &Plant, console: &Console) -> Value {
    let settings = plant.settings();
    let name = plant.folder().file_name().map(|name| name.to_string_lossy().into_owned());
    let channels: BTreeMap<_, _> = settings.channels.iter().map(|(name, channel)| {
        (name, json!({
            "unit": channel.unit, "kind": channel.kind, "range": channel.range, "resolution": channel.resolution,
            "every": channel.every.to_string(), "every_ms": channel.every.milliseconds(), "states": channel.states,
        }))
    }).collect();
    let questions: BTreeMap<_, _> = settings
        .questions
        .iter()
        .map(|(name, declared)| {
            let parameters = parameters_of(&declared.text);
            let read = plant.planned_question(name);
            let of = |read: &sotto_owner::question::Question| (by(read), zooms(read));
            let (by, zooms) = read.as_ref().map(of).unwrap_or_default();
            let refused = read.err().map(|error| error.to_string());
            let question = json!({
                "text": declared.text, "parameters": parameters, "precision": declared.precision,
                "by": by, "zooms": zooms, "refused": refused,
            });
            (name, without_null(question))
        })
        .collect();
    let devices: BTreeMap<_, _> = settings
        .devices
        .iter()
        .map(|(name, device)| {
            (name, json!({"channels": device.channels, "tags": device.tags, "public": device.public}))
        })
        .collect();
    let alarms: BTreeMap<_, _> =
        settings.alarms.iter().map(|(name, alarm)| (name, json!({"when": alarm.when}))).collect();
    let mut dashboards: BTreeMap<&str, Vec<&String>> = settings
        .dashboards
        .iter()
        .map(|(name, dashboard)| (name.as_str(), dashboard.questions.iter().collect()))
        .collect();
    dashboards.entry(MAIN).or_insert_with(|| settings.questions.keys().collect());
    json!({
        "name": name, "folder": plant.folder(), "time_zone": settings.time_zone,
        "program_version": env!("CARGO_PKG_VERSION"), "read_only": console.read_only,
        "prefetch": console.prefetch, "cloud": settings.cloud.url,
        "channels": channels, "questions": questions, "dashboards": dashboards, "devices": devices, "alarms": alarms,
    })
}

/// Removes the fields of an object that are null.
pub(super) fn without_null(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

pub(in super::super) async fn now(State(console): State<Arc<Console>>) -> Result<Response, Refusal> {
    if console.now.borrow().is_empty() {
        now::refresh(&console).await;
    }
    let text = console.now.borrow().to_string();
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// Sends *Now* after each change, until the session ends.
pub(in super::super) async fn events(State(console): State<Arc<Console>>, headers: HeaderMap) -> Response {
    let session = zeroize::Zeroizing::new(key(&headers).unwrap_or_default().to_owned());
    let watched = console.now.subscribe();
    let of = Arc::clone(&console);
    lines::following(watched, AGAIN, move || !of.access.is_session(&session, false))
}
