//! Answers that are kept, and their verification.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::json;

use super::super::{Console, lines};
use super::{Answered, on_plant};

/// Answers that are listed.
const MOST: usize = 50;

/// Returns the time in the name of an answer, `20260131T101500.000Z`, as RFC 3339.
fn at(name: &str) -> String {
    let of = |range: std::ops::Range<usize>| name.get(range).unwrap_or_default();
    let time = [of(9..11), of(11..13), name.get(13..).unwrap_or_default()].join(":");
    format!("{}-{}-{}T{time}", of(0..4), of(4..6), of(6..8))
}

pub(in super::super) async fn answers(State(console): State<Arc<Console>>) -> Answered {
    on_plant(&console, |plant| {
        let names = plant.answers()?;
        let kept = names.iter().rev().take(MOST).filter_map(|name| {
            let kept = plant.answer(name).ok()?;
            let assurance = kept.answer.rows.first().map(|row| row.assurance.to_string());
            let verified = plant.verified(name).ok().flatten();
            Some(json!({
                "name": name, "at": at(name), "question": kept.answer.question, "assurance": assurance.unwrap_or_default(),
                "rows": kept.answer.rows.len(), "verified": verified,
            }))
        });
        Ok(Json(json!(kept.collect::<Vec<_>>())))
    })
    .await
}

pub(in super::super) async fn verify(
    State(console): State<Arc<Console>>,
    Path(name): Path<String>,
) -> Response {
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
        let time = super::at("20260131T101500.250Z");
        assert_eq!(time, "2026-01-31T10:15:00.250Z");
        assert_eq!(time.parse::<jiff::Timestamp>().unwrap().as_millisecond() % 1000, 250);
    }
}
