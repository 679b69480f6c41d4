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

/// A sink of an alarm, and the earlier attempts to give it an event.
pub(crate) struct To<'t> {
    pub(crate) settings: &'t AlarmSettings,
    /// The server that takes messages.
    pub(crate) server: Option<&'t MailSettings>,
    pub(crate) sink: SinkKind,
    /// True if the sink may have got the event before.
    pub(crate) again: bool,
    /// The addresses of e-mail that need no further attempt, and the function that takes note of another one.
    pub(crate) reached: &'t [String],
    pub(crate) note: &'t mail::Note<'t>,
}

/// Gives an event to a sink.
///
/// # Errors
/// The reason for a person.
pub(crate) fn give(folder: &Path, to: &To<'_>, event: &Event) -> Result<(), String> {
    let To { settings, server, sink, again, reached, note } = *to;
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
                mail::To { all: &settings.mailboxes(), reached },
                event,
                REQUEST_LIMIT,
                note,
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
///
/// `now` is the present time of mutes.
fn line(
    folder: &Path,
    outbox: &Mutex<Outbox>,
    deliveries: &[Delivery],
    now: i64,
    tell: &(dyn Fn(String) + Sync),
) {
    // The devices whose events wait for the end of a mute.
    let mut muted: BTreeSet<&str> = BTreeSet::new();
    for Delivery { event, sink, attempts, reached, .. } in deliveries {
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
        if muted.contains(event.device.as_str()) {
            continue;
        }
        let note = |address: &str, refusal: Option<&str>| {
            if let Some(reason) = refusal {
                tell(format!(
                    "{}: mail: {address} refuses the event {id} for good, and gets no further attempt: {reason}",
                    event.alarm
                ));
            }
            locked(outbox).reached(id, sink, address).map_err(|error| error.to_string())
        };
        let to = To { settings, server, sink, again: *attempts > 0, reached, note: &note };
        let done = match plant.alarm_muted_until(&event.alarm, &event.device, now) {
            Ok(None) => give(folder, &to, event),
            Ok(Some(until)) => {
                muted.insert(&event.device);
                match locked(outbox).hold(id, sink, now, until) {
                    Ok(true) => {}
                    Ok(false) => tell(format!(
                        "{}: {} was muted for 7 days, the event {id} is dropped",
                        event.alarm,
                        sink.word()
                    )),
                    Err(error) => return tell(format!("sotto: {error}")),
                }
                continue;
            }
            Err(error) => Err(error.to_string()),
        };
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

/// Lets events go on that wait for the end of a mute which is over at the present time `now`.
pub(super) fn after_mutes(plant: &Plant, outbox: &Mutex<Outbox>, now: i64) -> Result<(), OwnerError> {
    // Also if it cannot be told: then the attempt says why.
    let is_muted =
        |event: &Event| matches!(plant.alarm_muted_until(&event.alarm, &event.device, now), Ok(Some(_)));
    locked(outbox).release(now_ms(), is_muted)
}

/// Attempts every delivery that is due once, and waits for all. `now` is the present time of mutes.
pub(super) fn all(folder: &Path, outbox: &Mutex<Outbox>, now: i64, tell: &(dyn Fn(String) + Sync)) {
    let lines = due(outbox);
    thread::scope(|scope| {
        for deliveries in lines.values() {
            scope.spawn(move || line(folder, outbox, deliveries, now, tell));
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
                    line(&folder, &outbox, &deliveries, now_ms(), &tell);
                    busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&of);
                });
            }
            thread::sleep(LOOK_AGAIN);
        }
    });
}
