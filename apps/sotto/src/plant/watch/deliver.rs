//! Deliveries: each alarm's sinks take its events, apart from one another and from the rounds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use sotto_http::Trust;
use sotto_owner::alarm::{AlarmSettings, Delivery, Event, MailSettings, MqttAddress, Outbox, SinkKind};
use sotto_owner::{OwnerError, Plant};

use super::{exec, mail, mqtt, now_ms, webhook};

/// Time limits of a command, and of a request.
const EXEC_LIMIT: Duration = Duration::from_secs(30);
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Time between two looks at the outbox.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Largest file with an authority.
const LARGEST_AUTHORITY: u64 = sotto_http::LARGEST_AUTHORITY as u64;

/// Deliveries of one alarm to one sink, in order.
type Lines = BTreeMap<(String, SinkKind), Vec<Delivery>>;

/// Gives an event to a sink; `server` takes messages. `again` says that it may have got the event before.
///
/// # Errors
/// The reason for a person.
pub(crate) fn give(
    folder: &Path,
    settings: &AlarmSettings,
    server: Option<&MailSettings>,
    sink: SinkKind,
    event: &Event,
    again: bool,
) -> Result<(), String> {
    let address =
        |of: &Option<String>| of.clone().ok_or_else(|| format!("the alarm has no {} any more", sink.word()));
    match sink {
        SinkKind::Exec => exec::run(&address(&settings.exec)?, folder, event, EXEC_LIMIT),
        SinkKind::Webhook => webhook::post(
            &address(&settings.webhook)?,
            &trust(folder, settings.ca.as_ref())?,
            event,
            REQUEST_LIMIT,
        ),
        SinkKind::Mqtt => {
            let address: MqttAddress =
                address(&settings.mqtt)?.parse().map_err(|error| format!("{error}"))?;
            let json = serde_json::to_vec(event).map_err(|error| error.to_string())?;
            mqtt::publish(&address, &trust(folder, settings.ca.as_ref())?, &json, again, REQUEST_LIMIT)
        }
        SinkKind::Mail => {
            let server = server.ok_or("sotto.toml has no [mail] any more")?;
            mail::send(
                server,
                &trust(folder, server.ca.as_ref())?,
                &settings.mailboxes(),
                event,
                REQUEST_LIMIT,
            )
        }
    }
}

/// Returns the authorities in a file of the plant's folder, by default Mozilla's list.
///
/// # Errors
/// The reason, if the file holds none.
pub(crate) fn trust(folder: &Path, authority: Option<&String>) -> Result<Trust, String> {
    let Some(name) = authority else { return Ok(Trust::default()) };
    let path = folder.join(name);
    let shown = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let length = std::fs::metadata(&path).map_err(|error| shown(&error))?.len();
    if length > LARGEST_AUTHORITY {
        return Err(shown(&"it is too long"));
    }
    let pem = std::fs::read(&path).map_err(|error| shown(&error))?;
    Trust::pinned(&pem).map_err(|error| shown(&error))
}

/// Locks the outbox. A thread that panicked has left its file whole.
pub(super) fn locked(outbox: &Mutex<Outbox>) -> MutexGuard<'_, Outbox> {
    outbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the deliveries that are due.
fn due(outbox: &Mutex<Outbox>) -> Lines {
    let mut lines = Lines::new();
    for delivery in locked(outbox).due(now_ms()) {
        lines.entry((delivery.event.alarm.clone(), delivery.sink)).or_default().push(delivery);
    }
    lines
}

/// Delivers one alarm's events to one sink until one of them fails.
fn line(folder: &Path, outbox: &Mutex<Outbox>, deliveries: &[Delivery], tell: &(dyn Fn(String) + Sync)) {
    for Delivery { event, sink, attempts, .. } in deliveries {
        let (id, sink) = (&event.id, *sink);
        // Read anew: a wrong address may have been corrected.
        let plant = match Plant::open(folder) {
            Ok(plant) => plant,
            Err(error) => return tell(format!("sotto: {error}")),
        };
        let (alarm, server) = (plant.settings().alarms.get(&event.alarm), plant.settings().mail.as_ref());
        let settings = match alarm {
            Some(settings) => settings,
            None => {
                let _ = locked(outbox).drop_alarm(&event.alarm);
                return;
            }
        };
        let done = give(folder, settings, server, sink, event, *attempts > 0);
        let kept = match done {
            Ok(()) => locked(outbox).delivered(id, sink),
            Err(reason) => locked(outbox)
                .failed(id, sink, now_ms())
                .map(|next| {
                    tell(match next {
                        Some(next) => format!(
                            "{}: {} failed: {reason}; the next attempt is in {} s",
                            event.alarm,
                            sink.word(),
                            next.saturating_sub(now_ms()).max(0).unsigned_abs().div_ceil(1000)
                        ),
                        None => format!(
                            "{}: {} failed for 7 days, the event {id} is dropped: {reason}",
                            event.alarm,
                            sink.word()
                        ),
                    });
                })
                .and(Err(OwnerError::Unanswerable(String::new()))),
        };
        match kept {
            Ok(()) => {}
            // Events stay in order: the next one waits for this one.
            Err(OwnerError::Unanswerable(_)) => return,
            Err(error) => return tell(format!("sotto: {error}")),
        }
    }
}

/// Attempts every delivery that is due once, and waits for all.
pub(super) fn all(folder: &Path, outbox: &Mutex<Outbox>, tell: &(dyn Fn(String) + Sync)) {
    let lines = due(outbox);
    thread::scope(|scope| {
        for deliveries in lines.values() {
            scope.spawn(move || line(folder, outbox, deliveries, tell));
        }
    });
}

/// Starts to deliver in the background, for as long as the process runs. A sink that hangs delays only its own events.
pub(super) fn start(folder: &Path, outbox: &Arc<Mutex<Outbox>>, tell: fn(String)) {
    let (folder, outbox) = (folder.to_owned(), Arc::clone(outbox));
    let busy: Arc<Mutex<BTreeSet<(String, SinkKind)>>> = Arc::default();
    thread::spawn(move || {
        loop {
            for (of, deliveries) in due(&outbox) {
                if !busy.lock().unwrap_or_else(PoisonError::into_inner).insert(of.clone()) {
                    continue;
                }
                let (folder, outbox, busy) = (folder.clone(), Arc::clone(&outbox), Arc::clone(&busy));
                thread::spawn(move || {
                    line(&folder, &outbox, &deliveries, &tell);
                    busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&of);
                });
            }
            thread::sleep(LOOK_AGAIN);
        }
    });
}
