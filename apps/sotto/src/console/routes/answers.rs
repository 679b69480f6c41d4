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

pub(in super::super) async fn answers(State(console): State<Arc<Console>>) -> Answered {
    on_plant(&console, |plant| {
        let names = plant.answers()?;
        let kept = names.iter().rev().take(MOST).filter_map(|name| {
            let kept = plant.answer(name).ok()?;
            let assurance = kept.answer.rows.first().map(|row| row.assurance.to_string());
            let verified = plant.verified(name).ok().flatten();
            Some(json!({
                "name": name, "at": name, "question": kept.answer.question, "assurance": assurance.unwrap_or_default(),
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
