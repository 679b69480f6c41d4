//! Questions that are asked, explained, and written into files.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use sotto_owner::question::Question;
use sotto_owner::{Answer, FETCHED, OwnerError, Plant};

use super::super::guard::BACKGROUND;
use super::super::refusal::Refusal;
use super::super::{Console, lines};
use super::{Answered, on_plant};
use crate::plant::{asked, export};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Ask {
    question: String,
    #[serde(default)]
    since: Option<String>,
    #[serde(default)]
    until: Option<String>,
    #[serde(default)]
    with: BTreeMap<String, String>,
    /// Another group in place of the question's.
    #[serde(default)]
    by: Option<String>,
    /// Bytes of readings that may come down at most.
    #[serde(default)]
    fetch: Option<u64>,
    /// True if the cloud's work is repeated here where values carry no tags.
    #[serde(default)]
    verify: bool,
}

impl Ask {
    /// Answers the question, and repeats the cloud's work if that is asked for.
    fn answer(&self, plant: &Plant, progress: &mut dyn FnMut(u64, u64)) -> Result<Answer, OwnerError> {
        let answer = plant.ask(&self.question(plant)?, progress)?;
        if self.verify { plant.verify_asked(answer, progress) } else { Ok(answer) }
    }

    fn question(&self, plant: &Plant) -> Result<Question, OwnerError> {
        let now = jiff::Timestamp::now().as_millisecond();
        let (since, until) = (self.since.as_deref(), self.until.as_deref());
        let question = asked(plant, &self.question, &self.with, [since, until], now, false)?;
        let Some(by) = &self.by else { return Ok(question) };
        grouped(plant, &question, by)
    }
}

/// Returns a question with another group. It is read again, as not every result has every group.
fn grouped(plant: &Plant, question: &Question, by: &str) -> Result<Question, OwnerError> {
    let other: Question = format!("count(x) by {by}")
        .parse()
        .map_err(|_| OwnerError::Question(format!("there is no group {by:?}: day, hour, 15m, …")))?;
    let text = Question { by: other.by, ..question.clone() }.to_string();
    Ok(Question { scheme: question.scheme, ..plant.question(&text)? })
}

pub(in super::super) async fn ask(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
    Json(ask): Json<Ask>,
) -> Response {
    // Answers that a person asked for are kept, so that they can be verified.
    let keeps = !headers.contains_key(BACKGROUND) && !console.read_only;
    let fetch = ask.fetch.unwrap_or(FETCHED);
    lines::working(&console, move |plant, progress| {
        let plant = plant.fetching_at_most(fetch);
        let answer = ask.answer(&plant, progress)?;
        let name = if keeps { plant.keep(&answer)? } else { None };
        Ok(json!({"answer": &*answer.checked(), "name": name}))
    })
}

pub(in super::super) async fn explain(State(console): State<Arc<Console>>, Json(ask): Json<Ask>) -> Answered {
    on_plant(&console, move |plant| {
        let question = ask.question(&plant)?;
        Ok(Json(json!(plant.explain(&question)?)))
    })
    .await
}

pub(in super::super) async fn export(
    State(console): State<Arc<Console>>,
    Path(format): Path<String>,
    Json(ask): Json<Ask>,
) -> Result<Response, Refusal> {
    let Some(format) = export::Format::of(&format) else {
        return Err(Refusal::new(StatusCode::NOT_FOUND, "csv, parquet and xlsx can be exported"));
    };
    let bytes = on_plant(&console, move |plant| {
        let plant = plant.fetching_at_most(ask.fetch.unwrap_or(FETCHED));
        let answer = ask.answer(&plant, &mut |_, _| {})?;
        Ok(format.bytes(&answer.checked())?)
    });
    Ok(([(header::CONTENT_TYPE, format.kind())], bytes.await?).into_response())
}
