//! What if: the plan of other settings, which are not written.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use sotto_owner::{Chosen, Every, Planned, Plant, SecurityLevel, Wishes, edit, measured_report};

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
    /// The longest window, in milliseconds.
    #[serde(default)]
    window_ms: Option<u32>,
    /// Bits of security of ciphertexts: 128, 192 or 256.
    #[serde(default)]
    security_bits: Option<u32>,
}

impl WhatIf {
    fn wishes(&self) -> Result<Wishes, Refusal> {
        let security = match self.security_bits {
            None => SecurityLevel::default(),
            Some(bits) => SecurityLevel::from_bits(bits).ok_or_else(|| {
                let reason = format!("{bits} bits of security: the table has 128, 192 and 256");
                Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, reason)
            })?,
        };
        Ok(Wishes { window_ms: self.window_ms, security })
    }
}

pub(in super::super) async fn plan(
    State(console): State<Arc<Console>>,
    Json(what): Json<WhatIf>,
) -> Answered {
    on_plant(&console, move |plant| {
        let wishes = what.wishes()?;
        let after = otherwise(&plant, &what)?;
        let Planned { streams, impossible, unsent } = after.planned_with(what.question.as_deref(), wishes)?;
        let devices: BTreeMap<String, Vec<_>> = streams
            .into_iter()
            .map(|(name, streams)| (name, streams.iter().map(|of| stream(of, what.fresh_ms)).collect()))
            .collect();
        let all = plant.settings().questions.keys().cloned();
        let alarms = plant.settings().alarms.keys().map(|name| format!("alarm {name}"));
        let mut questions: BTreeMap<String, Option<String>> = match what.question {
            None => all.chain(alarms).map(|name| (name, None)).collect(),
            Some(text) => BTreeMap::from([(text.trim().to_owned(), None)]),
        };
        questions.extend(impossible.into_iter().map(|(name, why)| (name, Some(why))));
        Ok(Json(json!({"devices": devices, "questions": questions, "unsent": unsent})))
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
    report["window_ms"] = json!(chosen.window_ms());
    report["delay_ms"] = json!(chosen.delay_ms(fresh));
    if let Some(fresh) = fresh {
        report["fresh_bytes_a_day"] = json!(chosen.fresh_bytes_a_day(fresh));
    }
    report
}
