//! Alarms: their states, acknowledgements and mutes.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::json;
use sotto_owner::alarm::Order;
use sotto_owner::{OwnerError, Plant};

use super::super::{Console, now};
use super::{Answered, on_plant, writing};

/// The name of this program in the log of alarms.
const BY: &str = "sotto console";

#[derive(Deserialize)]
pub(in super::super) struct About {
    #[serde(default)]
    device: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    /// The time of a mute.
    #[serde(default)]
    for_ms: Option<u32>,
}

impl About {
    fn order(self) -> Order {
        let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Order { device: filled(self.device), reason: filled(self.reason), by: BY.to_owned() }
    }
}

pub(in super::super) async fn alarms(State(console): State<Arc<Console>>) -> Answered {
    on_plant(&console, |plant| Ok(Json(json!(now::alarms(&plant))))).await
}

/// Gives an order about an alarm, and returns its state after it.
async fn ordered(
    console: &Arc<Console>,
    name: String,
    give: impl FnOnce(&Plant, &str) -> Result<(), OwnerError> + Send + 'static,
) -> Answered {
    let of = Arc::clone(console);
    writing(console, move |plant| {
        give(&plant, &name)?;
        let when = plant.settings().alarms.get(&name).map(|alarm| alarm.when.clone()).unwrap_or_default();
        let alarm = now::alarm(&plant, &name, &when);
        now::ordered(&of, &alarm);
        Ok(Json(alarm))
    })
    .await
}

pub(in super::super) async fn mute(
    State(console): State<Arc<Console>>,
    Path(name): Path<String>,
    Json(about): Json<About>,
) -> Answered {
    ordered(&console, name, move |plant, name| {
        let Some(time) = about.for_ms else {
            return Err(OwnerError::Argument("say for how long: for_ms".to_owned()));
        };
        let until = jiff::Timestamp::now().as_millisecond().saturating_add(time.into());
        plant.mute_alarm(name, until, &about.order()).map(drop)
    })
    .await
}

pub(in super::super) async fn unmute(
    State(console): State<Arc<Console>>,
    Path(name): Path<String>,
    Json(about): Json<About>,
) -> Answered {
    ordered(&console, name, |plant, name| plant.unmute_alarm(name, &about.order()).map(drop)).await
}

pub(in super::super) async fn acknowledge(
    State(console): State<Arc<Console>>,
    Path(name): Path<String>,
    Json(about): Json<About>,
) -> Answered {
    ordered(&console, name, |plant, name| plant.acknowledge_alarm(name, &about.order()).map(drop)).await
}
