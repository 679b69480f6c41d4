//! Questions that are checked, completed and declared.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use sotto_owner::question::Question;
use sotto_owner::settings::QuestionSettings;
use sotto_owner::{Plant, edit};

use super::super::Console;
use super::super::refusal::Refusal;
use super::{Answered, on_plant, writing};
use crate::complete::completed_question;
use crate::plant::{declare_question, parameters_of, price};

/// Texts that a completion offers.
const MOST: usize = 30;

#[derive(Deserialize)]
pub(in super::super) struct Check {
    question: String,
    #[serde(default)]
    precision: Option<f64>,
}

#[derive(Deserialize)]
pub(in super::super) struct Complete {
    text: String,
}

#[derive(Deserialize)]
pub(in super::super) struct New {
    name: String,
    question: String,
    #[serde(default)]
    precision: Option<f64>,
    dry_run: bool,
}

/// Returns the group of a question's rows, if it does not recur.
pub(super) fn by(question: &Question) -> Option<String> {
    question.by.filter(|by| !by.is_recurring()).map(|by| by.to_string())
}

/// Returns true if another group may be asked for: its rows follow each other in time.
pub(super) fn zooms(question: &Question) -> bool {
    question.by.is_some_and(|by| !by.is_recurring())
}

/// Returns the parsed question, or the refusal with status 200: browsers log each status from 400 on, and typing meets many
/// refusals.
pub(in super::super) async fn check(
    State(console): State<Arc<Console>>,
    Json(check): Json<Check>,
) -> Answered {
    on_plant(&console, move |plant| {
        Ok(Json(checked(&plant, check).unwrap_or_else(|refusal| json!({"refused": refusal}))))
    })
    .await
}

fn checked(plant: &Plant, Check { question: text, precision }: Check) -> Result<Value, Refusal> {
    let names = parameters_of(&text);
    let question = if names.is_empty() { plant.question(&text)? } else { plant.planned_question(&text)? };
    if let Some(precision) = precision {
        plant.check_precision(&question, precision)?;
    }
    let bundles = price::bundles_json(&plant.carried_by("", &question)?);
    let shown = if names.is_empty() { question.to_string() } else { text };
    Ok(json!({
        "text": shown, "remarks": question.remarks, "parameters": names, "by": by(&question),
        "zooms": zooms(&question), "bundles": bundles,
    }))
}

pub(in super::super) async fn complete(
    State(console): State<Arc<Console>>,
    Json(Complete { text }): Json<Complete>,
) -> Answered {
    on_plant(&console, move |plant| {
        let found = completed_question(&text, Some(&plant)).into_iter().take(MOST);
        let found: Vec<_> = found.map(|(text, help)| json!({"text": text, "help": help})).collect();
        Ok(Json(json!(found)))
    })
    .await
}

pub(in super::super) async fn declare(State(console): State<Arc<Console>>, Json(new): Json<New>) -> Answered {
    let work = move |mut plant: Plant| {
        let declared =
            QuestionSettings { precision: new.precision, ..QuestionSettings::from(new.question.as_str()) };
        let declaration = declare_question(&mut plant, &new.name, &declared, new.dry_run)?;
        let prices: Vec<_> = declaration
            .changes
            .iter()
            .map(|change| {
                let before = change.before.as_ref().map(|price| price.bytes_a_day);
                json!({"device": change.device, "before": before, "after": change.after.bytes_a_day})
            })
            .collect();
        let mut lines = price::changes_lines(&declaration.changes);
        lines.extend(price::bundles_lines("the question", &declaration.bundles, &declaration.changes));
        Ok(Json(json!({
            "name": new.name, "text": declaration.question.to_string(), "dry_run": new.dry_run,
            "remarks": declaration.question.remarks, "lines": lines, "prices": prices,
            "bundles": price::bundles_json(&declaration.bundles),
        })))
    };
    if new.dry_run { on_plant(&console, work).await } else { writing(&console, work).await }
}

pub(in super::super) async fn remove(
    State(console): State<Arc<Console>>,
    Path(name): Path<String>,
) -> Result<StatusCode, Refusal> {
    writing(&console, move |mut plant| {
        plant.edit(|document| edit::remove_question(document, &name))?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

pub(in super::super) async fn dashboard(
    State(console): State<Arc<Console>>,
    Path(name): Path<String>,
    Json(questions): Json<Vec<String>>,
) -> Result<StatusCode, Refusal> {
    writing(&console, move |mut plant| {
        plant.edit(|document| edit::set_dashboard(document, &name, &questions))?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}
