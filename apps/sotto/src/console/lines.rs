//! Answers that take long: lines of JSON, progress first, the result last.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Channel;
use serde::Serialize;
use serde_json::json;
use sotto_owner::{Interrupt, Plant};
use tokio::sync::mpsc;

use super::Console;
use super::refusal::Refusal;

/// Lines that wait for a slow reader.
const WAITING: usize = 16;
/// Percent by which the progress grows from one line to the next.
const STEP: u64 = 2;

fn line(of: &impl Serialize) -> Bytes {
    let mut text = serde_json::to_vec(of).unwrap_or_default();
    text.push(b'\n');
    text.into()
}

/// Makes an answer of lines that are sent later.
fn streamed() -> (mpsc::Sender<Bytes>, Response) {
    let (lines, mut waiting) = mpsc::channel::<Bytes>(WAITING);
    let (mut out, body) = Channel::<Bytes>::new(WAITING);
    tokio::spawn(async move {
        // Ends when the reader is gone; then `lines` is closed, too.
        while let Some(line) = waiting.recv().await {
            if out.send_data(line).await.is_err() {
                break;
            }
        }
    });
    (lines, ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::new(body)).into_response())
}

/// Runs work on the plant, whose progress and result go out as lines. It ends when the reader is gone.
pub(super) fn working<T: Serialize>(
    console: &Arc<Console>,
    work: impl FnOnce(Plant, &mut dyn FnMut(u64, u64)) -> Result<T, Refusal> + Send + 'static,
) -> Response {
    let (lines, answer) = streamed();
    let console = Arc::clone(console);
    tokio::spawn(async move {
        // A permit is held until the work ends, so that few questions are under way at one time.
        let Ok(permit) = Arc::clone(&console.working).acquire_owned().await else { return };
        tokio::task::spawn_blocking(move || {
            let gone = lines.clone();
            let interrupt = Interrupt::when(move || gone.is_closed());
            let mut shown = 0;
            let mut progress = |done: u64, all: u64| {
                let percent = done.saturating_mul(100) / all.max(1);
                // A second part of the work begins anew.
                shown = if percent + STEP < shown { 0 } else { shown };
                if percent >= shown + STEP {
                    shown = percent;
                    // A reader that is slow misses some of them.
                    let _ = lines.try_send(line(&json!({"progress": {"done": done, "all": all}})));
                }
            };
            let done = console.plant().map(|plant| plant.interrupted_by(interrupt));
            let done = done.and_then(|plant| work(plant, &mut progress));
            let last = match done {
                Ok(done) => line(&done),
                Err(refusal) => line(&json!({"refused": refusal})),
            };
            let _ = lines.blocking_send(last);
            drop(permit);
        });
    });
    answer
}

/// Sends each value of a watched place, and again after `pause` without a new one.
pub(super) fn following(
    mut of: tokio::sync::watch::Receiver<Arc<str>>,
    pause: std::time::Duration,
    is_over: impl Fn() -> bool + Send + 'static,
) -> Response {
    let (lines, answer) = streamed();
    tokio::spawn(async move {
        loop {
            let now = Bytes::from(format!("{}\n", of.borrow_and_update().as_ref()));
            if is_over() || (now.len() > 1 && lines.send(now).await.is_err()) {
                return;
            }
            tokio::select! {
                changed = tokio::time::timeout(pause, of.changed()) => {
                    if matches!(changed, Ok(Err(_))) {
                        return;
                    }
                }
                () = lines.closed() => return,
            }
        }
    });
    answer
}
