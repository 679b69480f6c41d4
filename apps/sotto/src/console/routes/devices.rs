//! A device's page; devices that are added, renewed, renamed and removed.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use sotto_owner::{Chosen, Enrolled, OwnerError, Plant};

use super::super::refusal::Refusal;
use super::super::{Console, picture};
use super::{Answered, is_declared, on_plant, writing};
use crate::plant::device;

#[derive(Deserialize)]
pub(in super::super) struct New {
    name: String,
    channels: Vec<String>,
    dry_run: bool,
}

#[derive(Deserialize)]
pub(in super::super) struct DryRun {
    #[serde(default)]
    dry_run: bool,
}

#[derive(Deserialize)]
pub(in super::super) struct Renamed {
    name: String,
}

/// Describes a device: its record and its bundles.
pub(super) fn described(plant: &Plant, name: &str) -> Result<Value, OwnerError> {
    let settings = plant.settings().devices.get(name);
    let Some(settings) = settings else {
        return Err(OwnerError::NotDeclared { kind: "device", name: name.to_owned() });
    };
    let record = plant.device(name)?;
    let clock = plant.settings().clock()?;
    let bundles: Vec<_> = record
        .iter()
        .flat_map(|record| &record.bundles)
        .map(|bundle| {
            let streams: Vec<_> = bundle
                .streams
                .iter()
                .map(|stream| {
                    let channels: Vec<&str> =
                        stream.channels.iter().map(|channel| channel.name.as_str()).collect();
                    let scheme = if stream.sums.is_empty() { "ciphertexts" } else { "sums" };
                    json!({
                        "name": stream.stream, "scheme": scheme, "channels": channels, "period_ms": stream.period_ms,
                        "window_ms": stream.period_ms.map(|period| period.after(stream.ticks.into())),
                    })
                })
                .collect();
            json!({"made_at": clock.rfc3339(bundle.made_at), "streams": streams})
        })
        .collect();
    Ok(json!({
        "device": name, "tags": settings.tags, "public": settings.public,
        "verifying_key": record.as_ref().map(|record| &record.verifying_key), "bundles": bundles,
        "unregistered": record.as_ref().is_some_and(|record| record.unregistered),
        "came_back": record.as_ref().is_some_and(|record| record.came_back),
    }))
}

pub(in super::super) async fn page(
    State(console): State<Arc<Console>>,
    UrlPath(name): UrlPath<String>,
) -> Answered {
    on_plant(&console, move |plant| Ok(Json(described(&plant, &name)?))).await
}

/// Describes a bundle that was made, or would be.
fn bundle(name: &str, file: Option<&Path>, streams: &[Chosen], more: &[String]) -> Json<Value> {
    let mut lines = device::bundle_lines(name, streams);
    lines.extend_from_slice(more);
    Json(json!({"device": name, "file": file, "lines": lines}))
}

/// Describes a bundle that was made. Its code may be asked for from now on.
fn made(console: &Console, name: &str, enrolled: &Enrolled) -> Json<Value> {
    console.bundles().insert(name.to_owned(), enrolled.bundle.clone());
    bundle(name, Some(&enrolled.bundle), &enrolled.streams, &device::registered_lines(enrolled))
}

/// Shows as a QR code the bundle that this console has made for a device. It holds the device's secret, so it is not part of any
/// other answer, and bundles of before are not shown.
pub(in super::super) async fn qr(
    State(console): State<Arc<Console>>,
    UrlPath(name): UrlPath<String>,
) -> Answered {
    if console.read_only {
        return Err(Refusal::read_only());
    }
    let file = console.bundles().get(&name).cloned();
    on_plant(&console, move |plant| {
        is_declared(&plant, &name)?;
        let unmade = || {
            let reason =
                format!("{name}: this console has made no bundle of it; renew it, then show its QR code");
            Refusal::new(StatusCode::NOT_FOUND, reason)
        };
        let file = file.ok_or_else(unmade)?;
        let rows = picture::of_file(&file).map_err(|reason| {
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, format!("the bundle of {name} {reason}"))
        })?;
        let reading = format!("{}{name}.bundle", picture::READING);
        Ok(Json(json!({"device": name, "rows": rows, "reading": reading})))
    })
    .await
}

pub(in super::super) async fn add(State(console): State<Arc<Console>>, Json(new): Json<New>) -> Answered {
    let New { name, channels, dry_run } = new;
    if dry_run {
        return on_plant(&console, move |mut plant| {
            let file = plant.folder().join(format!("{name}.bundle"));
            let streams = device::add::streams_of(&mut plant, &name, &channels, &file)?;
            Ok(bundle(&name, None, &streams, &[]))
        })
        .await;
    }
    let of = Arc::clone(&console);
    writing(&console, move |mut plant| {
        let file = plant.folder().join(format!("{name}.bundle"));
        let enrolled = device::add::enrolled(&mut plant, &name, &channels, &file)?;
        Ok(made(&of, &name, &enrolled))
    })
    .await
}

pub(in super::super) async fn renew(
    State(console): State<Arc<Console>>,
    UrlPath(name): UrlPath<String>,
    Json(DryRun { dry_run }): Json<DryRun>,
) -> Answered {
    let file = |plant: &Plant, name: &str| {
        Ok::<_, OwnerError>(plant.folder().join(device::next_bundle(plant, name)?))
    };
    if dry_run {
        return on_plant(&console, move |plant| {
            is_declared(&plant, &name)?;
            let streams = plant.renewable(&name, &file(&plant, &name)?)?;
            Ok(bundle(&name, None, &streams, &[]))
        })
        .await;
    }
    let of = Arc::clone(&console);
    writing(&console, move |plant| {
        is_declared(&plant, &name)?;
        let enrolled = plant.renew(&name, &file(&plant, &name)?)?;
        Ok(made(&of, &name, &enrolled))
    })
    .await
}

pub(in super::super) async fn rename(
    State(console): State<Arc<Console>>,
    UrlPath(name): UrlPath<String>,
    Json(Renamed { name: new }): Json<Renamed>,
) -> Result<StatusCode, Refusal> {
    let of = Arc::clone(&console);
    writing(&console, move |mut plant| {
        plant.rename_device(&name, &new)?;
        // Another device may have the name later.
        of.bundles().retain(|device, _| *device != name && *device != new);
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

pub(in super::super) async fn remove(
    State(console): State<Arc<Console>>,
    UrlPath(name): UrlPath<String>,
) -> Result<StatusCode, Refusal> {
    let of = Arc::clone(&console);
    writing(&console, move |mut plant| {
        is_declared(&plant, &name)?;
        plant.remove_device(&name, false)?;
        of.bundles().remove(&name);
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}
