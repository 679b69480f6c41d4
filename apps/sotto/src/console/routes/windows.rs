//! The windows of a device, and one of them twice.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::Console;
use super::super::refusal::Refusal;
use super::{Answered, is_declared, on_plant};

/// Windows of a list.
const MOST: usize = 50;

#[derive(Deserialize)]
pub(in super::super) struct Before {
    /// The position of the last window of an earlier list: its stream and number.
    #[serde(default)]
    before: Option<String>,
}

pub(in super::super) async fn list(
    State(console): State<Arc<Console>>,
    Path(name): Path<String>,
    Query(Before { before }): Query<Before>,
) -> Answered {
    on_plant(&console, move |plant| {
        is_declared(&plant, &name)?;
        let none = || Refusal::new(StatusCode::BAD_REQUEST, "a position is STREAM:NUMBER");
        let before = match &before {
            None => None,
            Some(text) => {
                let (stream, number) = text.rsplit_once(':').ok_or_else(none)?;
                Some((stream, number.parse().map_err(|_| none())?))
            }
        };
        let windows: Vec<Value> = plant
            .windows_of(&name, before, MOST)?
            .iter()
            .map(|window| {
                let mut line = json!(window);
                line["position"] = json!(format!("{}:{}", window.stream, window.number));
                line
            })
            .collect();
        Ok(Json(json!(windows)))
    })
    .await
}

pub(in super::super) async fn window(
    State(console): State<Arc<Console>>,
    Path((name, stream, number)): Path<(String, String, u64)>,
) -> Answered {
    on_plant(&console, move |plant| {
        is_declared(&plant, &name)?;
        Ok(Json(json!(plant.window_seen(&name, &stream, number)?)))
    })
    .await
}
