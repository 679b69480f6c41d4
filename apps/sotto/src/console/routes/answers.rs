//! Answers that are kept, and their verification.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::super::refusal::Refusal;
use super::super::{Console, lines};
use super::{Answered, on_plant};

/// Answers that are listed.
const MOST: usize = 50;

/// Returns the time in the name of an answer, `20260131T101500.000Z`, in milliseconds since 1970.
fn at(name: &str) -> Option<i64> {
    let time = name.strip_suffix('Z')?.parse::<jiff::civil::DateTime>().ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

pub(in super::super) async fn answers(State(console): State<Arc<Console>>) -> Answered {
    on_plant(&console, |plant| {
        let clock = plant.settings().clock().map_err(sotto_owner::OwnerError::from)?;
        let names = plant.answers()?;
        let kept = names.iter().rev().take(MOST).filter_map(|name| {
            let kept = plant.answer(name).ok()?;
            let assurance = kept.answer.rows.first().map(|row| row.assurance.to_string());
            let verified = plant.verified(name).ok().flatten();
            Some(json!({
                "name": name, "at": at(name).map(|at| clock.rfc3339(at)), "question": kept.answer.question, "assurance": assurance.unwrap_or_default(),
                "rows": kept.answer.rows.len(), "verified": verified,
            }))
        });
        Ok(Json(json!(kept.collect::<Vec<_>>())))
    })
    .await
}

/// Verifies an answer. The findings are kept, so a console that only reads refuses.
pub(in super::super) async fn verify(
    State(console): State<Arc<Console>>,
    Path(name): Path<String>,
) -> Response {
    if console.read_only {
        return Refusal::read_only().into_response();
    }
    lines::working(&console, move |plant, progress| {
        let done = plant.verify(&name, 1.0, None, progress)?;
        Ok(json!({"verified": {
            "holds": done.findings.is_empty() && done.open.is_empty(),
            "findings": done.findings.iter().chain(&done.open).map(|finding| finding.lie.clone()).collect::<Vec<_>>(),
            "tagged": done.tagged, "repeated": done.repeated, "windows": done.windows, "bytes": done.bytes,
            "seconds": done.seconds,
        }}))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_name_of_an_answer_is_its_time() {
        let expected = "2026-01-31T10:15:00.250Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
        assert_eq!(super::at("20260131T101500.250Z"), Some(expected));
        assert_eq!(super::at("yesterday"), None);
    }
}
