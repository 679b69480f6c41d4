//! *Now*: the devices, alarms and the cloud, looked at again and again while somebody watches.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use sotto_owner::{BackupNote, DeviceStatus, Interrupt, OwnerError, Plant, SETTINGS, UnknownOrders};

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

/// Returns a digest of `sotto.toml` and of the time at which it was written: the page reads the plant again when it changes. The
/// time tells of a text that was changed and changed back, as by a device that is added and removed between two looks.
fn version(folder: &Path) -> String {
    let path = folder.join(SETTINGS);
    let mut digest = blake3::Hasher::new();
    digest.update(&std::fs::read(&path).unwrap_or_default());
    let written = std::fs::metadata(&path).and_then(|file| file.modified()).ok();
    let since = written.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    digest.update(&since.as_nanos().to_le_bytes());
    digest.finalize().to_hex()[..16].to_owned()
}

/// Changes a field of *Now* at once: a look at the cloud may take its time.
fn change(console: &Console, field: &str, to: impl FnOnce(&Value) -> Value) {
    console.now.send_if_modified(|now| {
        let Ok(mut seen) = serde_json::from_str::<Value>(now) else { return false };
        let value = to(&seen[field]);
        let is_new = seen[field] != value;
        if is_new {
            seen[field] = value;
            *now = seen.to_string().into();
        }
        is_new
    });
}

/// Tells that `sotto.toml` was written.
pub(super) fn written(console: &Console) {
    let version = version(&console.folder());
    change(console, "version", |_| json!(version));
}

/// Tells the state of an alarm after an order.
pub(super) fn ordered(console: &Console, alarm: &Value) {
    change(console, "alarms", |alarms| {
        let mut alarms = alarms.clone();
        let of =
            alarms.as_array_mut().and_then(|all| all.iter_mut().find(|one| one["alarm"] == alarm["alarm"]));
        if let Some(of) = of {
            of.clone_from(alarm);
        }
        alarms
    });
}

/// Tells of edits of `sotto.toml` by other programs, while a look at the cloud may take its time.
pub(super) async fn reading(console: Arc<Console>, every: Duration) {
    let mut times = tokio::time::interval(every);
    loop {
        times.tick().await;
        if console.access.is_any() {
            written(&console);
        }
    }
}

/// Returns *Now* as JSON. `before` is the last one: its devices stay if the cloud is away.
pub(super) fn look(plant: &Plant, before: &str) -> String {
    seen(plant, before, plant.status().map_err(|error| error.to_string()))
}

/// Returns *Now* of the folder, and of the devices as the cloud has them, or the reason why it does not tell.
fn seen(plant: &Plant, before: &str, devices: Result<Vec<DeviceStatus>, String>) -> String {
    let (devices, error) = match devices {
        Ok(devices) => (devices, None),
        Err(error) => (Vec::new(), Some(error)),
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
    let now = Now {
        at_ms: now_ms(),
        version: version(plant.folder()),
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

/// Looks at the plant once. A cloud that does not answer is told of after [`PATIENCE`]; its request is left to end by itself.
pub(super) async fn refresh(console: &Arc<Console>) {
    let _turn = console.looking.lock().await;
    // A thread for each look that waits in vain, so not too many of them.
    let Ok(permit) = Arc::clone(&console.looks).try_acquire_owned() else { return };
    let (of, left) = (Arc::clone(console), Arc::new(AtomicBool::new(false)));
    let is_left = Arc::clone(&left);
    let looked = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let before = Arc::clone(&of.now.borrow());
        let interrupt = Interrupt::when(move || is_left.load(Ordering::Relaxed));
        of.plant().map(|plant| look(&plant.interrupted_by(interrupt), &before))
    });
    let now = match tokio::time::timeout(PATIENCE, looked).await {
        Ok(Ok(Ok(now))) => Some(now),
        Ok(_) => None,
        Err(_) => {
            left.store(true, Ordering::Relaxed);
            let (of, before) = (Arc::clone(console), Arc::clone(&console.now.borrow()));
            let silent = Err(format!("it has not answered for {} seconds", PATIENCE.as_secs()));
            // The folder is read on a thread of its own: files may be slow, too.
            let seen =
                tokio::task::spawn_blocking(move || of.plant().map(|plant| seen(&plant, &before, silent)));
            seen.await.ok().and_then(Result::ok)
        }
    };
    if let Some(now) = now {
        console.now.send_replace(now.into());
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, read, write};
    use std::time::{Duration, SystemTime};

    use sotto_owner::NewPlant;

    use super::*;

    #[test]
    fn a_text_that_was_changed_and_changed_back_has_another_version() {
        let folder = tempfile::tempdir().unwrap();
        let new = NewPlant {
            cloud: None,
            listen: "127.0.0.1:7410".parse().unwrap(),
            time_zone: Some("UTC".into()),
        };
        let plant = Plant::init(&folder.path().join("dairy"), &new).unwrap();
        let path = plant.folder().join(SETTINGS);
        let (before, text) = (version(plant.folder()), read(&path).unwrap());
        assert_eq!(version(plant.folder()), before);
        write(&path, text).unwrap();
        let later = SystemTime::now() + Duration::from_secs(1);
        File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_ne!(version(plant.folder()), before);
    }
}
