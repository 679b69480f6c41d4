//! *Now*: the devices, alarms and the cloud, looked at again and again while somebody watches.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use sotto_owner::{BackupNote, DeviceStatus, OwnerError, Plant, SETTINGS, UnknownOrders};

use super::Console;

/// The time after which the cloud counts as away, though its answer is waited for.
const PATIENCE: Duration = Duration::from_secs(15);

/// The body of `GET /api/now`.
#[derive(Serialize)]
struct Now {
    at_ms: i64,
    version: String,
    cloud: Cloud,
    devices: Vec<DeviceStatus>,
    alarms: Vec<Value>,
    backup: Option<Value>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Cloud {
    url: String,
    reachable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Returns what is to be seen now, as JSON. `before` is what was seen last: its devices stay if the cloud is away.
pub(super) fn look(plant: &Plant, before: &str) -> String {
    let (devices, error) = match plant.status() {
        Ok(devices) => (devices, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let mut notes: Vec<String> = Vec::new();
    if error.is_none() {
        match plant.unknown_orders() {
            Ok(unknown) => notes.extend(UnknownOrders::notes(&unknown)),
            Err(error) => notes.push(format!("the orders cannot be read: {error}")),
        }
        notes.extend(plant.unknown_devices().unwrap_or_default());
    }
    notes.extend(plant.not_pinned());
    if let Ok(Some(until)) = plant.certificate_ends_soon() {
        notes.push(format!(
            "the cloud's certificate is valid until {until}: `sotto tls renew` makes a new one"
        ));
    }
    let text = std::fs::read(plant.folder().join(SETTINGS)).unwrap_or_default();
    let now = Now {
        at_ms: now_ms(),
        version: blake3::hash(&text).to_hex()[..16].to_owned(),
        cloud: Cloud { url: plant.settings().cloud.url.clone(), reachable: error.is_none(), error },
        devices,
        alarms: alarms(plant),
        backup: backup(plant).ok().flatten(),
        notes,
    };
    let mut value = serde_json::to_value(&now).unwrap_or_default();
    if !now.cloud.reachable
        && let Ok(before) = serde_json::from_str::<Value>(before)
        && let Some(devices) = before.get("devices").filter(|devices| devices.is_array())
    {
        value["devices"] = devices.clone();
    }
    value.to_string()
}

/// Returns the state of every alarm.
pub(super) fn alarms(plant: &Plant) -> Vec<Value> {
    plant.settings().alarms.iter().map(|(name, settings)| alarm(plant, name, &settings.when)).collect()
}

/// Returns the state of an alarm; the reason if it cannot be told.
pub(super) fn alarm(plant: &Plant, name: &str, when: &str) -> Value {
    plant.alarm_status(name).map_or_else(
        |error| json!({"alarm": name, "when": when, "devices": [], "events": [], "failed": error.to_string()}),
        |status| json!(status),
    )
}

/// Returns the last backup.
pub(super) fn backup(plant: &Plant) -> Result<Option<Value>, OwnerError> {
    let clock = plant.settings().clock()?;
    let shown = |note: BackupNote| json!({"file": note.path, "at": clock.rfc3339(note.at), "age_ms": now_ms().saturating_sub(note.at)});
    Ok(plant.last_backup()?.map(shown))
}

/// Looks at the plant while there is a session, and tells of each change.
pub(super) async fn watching(console: Arc<Console>, every: Duration) {
    let mut times = tokio::time::interval(every);
    times.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        if console.access.is_any() {
            refresh(&console).await;
        }
    }
}

/// Looks at the plant once.
pub(super) async fn refresh(console: &Arc<Console>) {
    let _turn = console.looking.lock().await;
    let of = Arc::clone(console);
    let mut looked = tokio::task::spawn_blocking(move || {
        let before = Arc::clone(&of.now.borrow());
        of.plant().map(|plant| look(&plant, &before))
    });
    let done = match tokio::time::timeout(PATIENCE, &mut looked).await {
        Ok(done) => done,
        Err(_) => {
            let before = Arc::clone(&console.now.borrow());
            if let Some(now) = without_answer(&before) {
                console.now.send_replace(now.into());
            }
            looked.await
        }
    };
    if let Ok(Ok(now)) = done {
        console.now.send_replace(now.into());
    }
}

/// Returns what was seen last, with the remark that the cloud does not answer. None if nothing was seen yet.
fn without_answer(before: &str) -> Option<String> {
    let mut now: Value = serde_json::from_str(before).ok()?;
    let cloud = now.get_mut("cloud")?;
    cloud["reachable"] = json!(false);
    cloud["error"] = json!(format!("it has not answered for {} seconds", PATIENCE.as_secs()));
    Some(now.to_string())
}
