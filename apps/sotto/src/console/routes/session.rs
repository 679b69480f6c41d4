//! Sessions: their begin by a code or the passphrase, and their end.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use sotto_owner::{Plant, Unlock};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::super::guard::key;
use super::super::open::proof;
use super::super::refusal::Refusal;
use super::super::{Console, page};
use super::on_plant;

#[derive(Deserialize)]
pub(in super::super) struct New {
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    passphrase: Option<String>,
}

#[derive(Serialize)]
pub(in super::super) struct Session {
    key: String,
    idle_ms: u64,
}

pub(in super::super) async fn begin(
    State(console): State<Arc<Console>>,
    Json(new): Json<New>,
) -> Result<Json<Session>, Refusal> {
    match (new.code.map(Zeroizing::new), new.passphrase.map(Zeroizing::new)) {
        (Some(code), None) => {
            if !console.access.take_code(&code) {
                let reason = "this is no code of this console, or it was used, or it is older than ten minutes: \
                              `sotto console --code` prints a new one";
                return Err(Refusal::new(StatusCode::FORBIDDEN, reason));
            }
        }
        (None, Some(passphrase)) => {
            if !console.plant()?.has_passphrase() {
                let reason = "this plant has no passphrase: give a code, which `sotto console --code` prints";
                return Err(Refusal::new(StatusCode::FORBIDDEN, reason));
            }
            if !console.access.may_try() {
                return Err(Refusal::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "wait some seconds before the next passphrase, or give a code of `sotto console --code`",
                ));
            }
            let unlocked = on_plant(&console, move |plant| {
                let plant = Plant::open(plant.folder())?.unlocking(Unlock::by_passphrase(passphrase));
                plant.open_secrets()?;
                Ok(plant)
            });
            let unlocked = unlocked.await.inspect_err(|_| {
                console.access.failed();
                crate::output::tell("a wrong passphrase was given to the page");
            })?;
            console.access.succeeded();
            console.unlocked(unlocked);
        }
        _ => return Err(Refusal::new(StatusCode::BAD_REQUEST, "give a code or a passphrase")),
    }
    let key = console.access.begin()?.to_string();
    let idle_ms = u64::try_from(console.access.idle().as_millis()).unwrap_or(u64::MAX);
    let looking = Arc::clone(&console);
    tokio::spawn(async move { super::super::now::refresh(&looking).await });
    Ok(Json(Session { key, idle_ms }))
}

/// Makes a code for `sotto console --code`, which proves that it has the token of a file of the plant's owner.
pub(in super::super) async fn code(
    State(console): State<Arc<Console>>,
    headers: HeaderMap,
) -> Result<String, Refusal> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let nonce = text("x-nonce");
    let expected = proof(&console.token, "ask", nonce);
    if nonce.len() != 32 || !bool::from(text("x-proof").as_bytes().ct_eq(expected.as_bytes())) {
        return Err(Refusal::no_session());
    }
    let code = console.access.new_code()?;
    let proven = proof(&console.token, "answer", &format!("{nonce} {}", *code));
    Ok(format!("{} {proven}", *code))
}

pub(in super::super) async fn lock(State(console): State<Arc<Console>>, headers: HeaderMap) -> StatusCode {
    if let Some(key) = key(&headers) {
        console.access.end(key);
    }
    StatusCode::NO_CONTENT
}

pub(in super::super) async fn licences() -> &'static str {
    page::LICENCES
}
