//! What if: the plan of other settings, which are not written.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use sotto_owner::{Chosen, Every, Plant, edit, measured_report};

use super::super::Console;
use super::super::refusal::Refusal;
use super::{Answered, on_plant};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct WhatIf {
    #[serde(default)]
    question: Option<String>,
    #[serde(default)]
    resolution_factor: Option<f64>,
    #[serde(default)]
    every_ms: Option<u32>,
    #[serde(default)]
    fresh_ms: Option<u32>,
}

pub(in super::super) async fn plan(
    State(console): State<Arc<Console>>,
    Json(what): Json<WhatIf>,
) -> Answered {
    on_plant(&console, move |plant| {
        let after = otherwise(&plant, &what)?;
        let devices: BTreeMap<String, Vec<_>> = after
            .planned_streams(what.question.as_deref())?
            .into_iter()
            .map(|(name, streams)| (name, streams.iter().map(|of| stream(of, what.fresh_ms)).collect()))
            .collect();
        let questions: BTreeMap<&String, Option<String>> = plant
            .settings()
            .questions
            .keys()
            .map(|name| (name, after.planned_question(name).err().map(|error| error.to_string())))
            .collect();
        Ok(Json(json!({"devices": devices, "questions": questions})))
    })
    .await
}

/// Returns the plant with other channels.
fn otherwise(plant: &Plant, what: &WhatIf) -> Result<Plant, Refusal> {
    let factor = what.resolution_factor.unwrap_or(1.0);
    if !(factor.is_finite() && (1e-6..=1e6).contains(&factor)) {
        return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "a factor is from 0.000001 to 1,000,000"));
    }
    let every: Option<Every> = match what.every_ms {
        None => None,
        Some(every) => Some(format!("{every}ms").parse().map_err(|error| {
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, format!("the time between readings: {error}"))
        })?),
    };
    Ok(plant.edited(|document| {
        for (name, channel) in &plant.settings().channels {
            edit::change_channel(
                document,
                name,
                channel.resolution * factor,
                every.unwrap_or(channel.every),
            )?;
        }
        Ok(())
    })?)
}

fn stream(chosen: &Chosen, fresh: Option<u32>) -> serde_json::Value {
    let mut report = serde_json::to_value(measured_report(chosen)).unwrap_or_default();
    report["windows_a_day"] = json!(chosen.windows_a_day());
    if let Some(fresh) = fresh {
        report["fresh_bytes_a_day"] = json!(chosen.fresh_bytes_a_day(fresh));
    }
    report
}
