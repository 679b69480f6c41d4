//! Rounds over all alarms.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::sync::{Mutex, PoisonError};

use super::event::{Event, EventKind};
use super::files::{FOLDER, Stored};
use super::machine::{Change, Seen, Verdict};
use super::outbox::Outbox;
use super::round::{Judged, judge, new_windows, undecided, what};
use super::{files, round};
use crate::declared::{Declared, Plant};
use crate::error::{OwnerError, io};
use crate::windows::{Between, DeviceWindows};
use crate::work::{Computer, Evidence};
use crate::{declared, devices, trust, windows};

/// A window that ended this much before its evaluation, and two rounds more, is late: one hour, in milliseconds.
const LATE_MS: i64 = 3_600_000;

/// Evaluates the alarms of a plant, round by round. Only one process does so at a time.
///
/// Example: [`crate::alarm`]
#[derive(Debug)]
pub struct Watch {
    /// Held while this process watches.
    _lock: File,
    every_ms: i64,
    verify: bool,
}

/// The outcome of a round.
///
/// Example: [`crate::alarm`]
#[derive(Debug, Default)]
pub struct Round {
    /// Changes of alarms, in the order of alarms, devices and time.
    pub events: Vec<Event>,
    /// Number of alarms.
    pub alarms: usize,
    /// Number of devices that were asked about.
    pub devices: usize,
    /// Number of new windows that were evaluated, once for each alarm.
    pub windows: u64,
    /// Number of these that are undecided.
    pub undecided: u64,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// The error that ended the round early. The next round asks again.
    pub error: Option<OwnerError>,
}

/// An alarm during a round.
struct Active {
    name: String,
    declared: Declared,
    devices: Vec<String>,
    since: i64,
    stored: Stored,
}

/// The new windows of an alarm about one device, evaluated.
struct Evaluated {
    alarm: usize,
    device: String,
    asked: DeviceWindows,
    outcome: Result<Judged, OwnerError>,
}

impl Watch {
    /// Begins to watch a plant, with a round every `every_ms` milliseconds.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if another process watches it; another [`OwnerError`] if the folder cannot be
    /// written.
    pub fn open(plant: &Plant, every_ms: i64) -> Result<Self, OwnerError> {
        files::make_alarm_folders(plant)?;
        let path = plant.path(FOLDER).join("lock");
        let mut options = File::options();
        let lock = options.write(true).create(true).truncate(false).open(&path).map_err(io(&path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { _lock: lock, every_ms, verify: false }),
            Err(TryLockError::WouldBlock) => Err(OwnerError::Unanswerable(
                "another `sotto watch` runs on this plant: stop it first".to_owned(),
            )),
            Err(TryLockError::Error(error)) => Err(io(&path)(error)),
        }
    }

    /// Repeats the cloud's work on the windows of each round before an alarm acts on its answers.
    #[must_use]
    pub fn verifying(self, verify: bool) -> Self {
        Self { verify, ..self }
    }

    /// Runs one round: lists every alarm's devices, asks for their new windows, and only then looks at the answers.
    /// Events are in the journal and in the outbox when it returns.
    ///
    /// The requests, their order and their lengths follow from the alarms and from the windows that have arrived: a
    /// window is asked for once by each alarm, whatever its answer is. An error of the cloud or of a log, which do not
    /// depend on an answer, lets the next round ask again.
    pub fn round(&mut self, plant: &Plant, outbox: &Mutex<Outbox>) -> Round {
        let mut round = Round::default();
        if let Err(error) = self.run(plant, outbox, &mut round) {
            round.error.get_or_insert(error);
        }
        round
    }

    fn run(&self, plant: &Plant, outbox: &Mutex<Outbox>, round: &mut Round) -> Result<(), OwnerError> {
        let mut active = Vec::new();
        for name in plant.settings().alarms.keys() {
            let declared = declared::alarm(plant, name)?;
            let mut stored = files::stored_alarm(plant, name, &declared)?;
            // Left by a process that was stopped.
            post(plant, outbox, name, &declared, &mut stored)?;
            let (devices, since) =
                (round::alarm_devices(plant, &declared)?, round::alarm_since(plant, &declared)?);
            active.push(Active { name: name.clone(), declared, devices, since, stored });
        }
        round.alarms = active.len();
        if active.is_empty() {
            return Ok(());
        }
        let (evaluated, evidence) = ask(plant, &mut active, round);
        let refused = if self.verify { refused(plant, &evidence) } else { None };
        for Evaluated { alarm, device, asked, mut outcome } in evaluated {
            if let (Some(reason), Ok(judged)) = (&refused, &mut outcome) {
                judged.seen = asked.windows.iter().map(undecided).collect();
                round.notes.push(format!("nothing of this round is believed: {reason}"));
            }
            self.apply(plant, &mut active[alarm], (&device, &asked), (outcome, refused.as_deref()), round)?;
        }
        for Active { name, declared, stored, .. } in &mut active {
            files::store_alarm(plant, name, stored)?;
            post(plant, outbox, name, declared, stored)?;
        }
        Ok(())
    }

    /// Takes the answers about one device into the state of an alarm.
    fn apply(
        &self,
        plant: &Plant,
        active: &mut Active,
        (device, asked): (&str, &DeviceWindows),
        (outcome, refused): (Result<Judged, OwnerError>, Option<&str>),
        round: &mut Round,
    ) -> Result<(), OwnerError> {
        let Active { name, declared, stored, .. } = active;
        let tag = stored.tag.clone();
        let state = stored.devices.entry(device.to_owned()).or_default();
        let (seen, failure) = match outcome {
            Ok(judged) => {
                if judged.not_carried > 0 {
                    round.notes.push(format!(
                        "{name}: {} windows of {device} were encrypted for other questions and are undecided; `sotto device renew {device}` \
                         makes a bundle that serves the alarm",
                        judged.not_carried
                    ));
                }
                if judged.fetched > 0 {
                    round.notes.push(format!(
                        "{name}: the readings of {} windows of {device} were fetched, as they carry no counts for this limit; `sotto device \
                         renew {device}` makes a bundle with counts",
                        judged.fetched
                    ));
                }
                (judged.seen, refused.map(str::to_owned))
            }
            // What an answer holds must not decide about a second request.
            Err(error @ OwnerError::WrongAnswer(_)) => {
                (asked.windows.iter().map(undecided).collect(), Some(error.to_string()))
            }
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        if failure.is_none() || !seen.is_empty() {
            state.asked.extend(asked.windows.iter().map(|window| window.id.clone()));
        }
        round.windows += seen.len() as u64;
        round.undecided += seen.iter().filter(|seen| seen.over == Verdict::Undecided).count() as u64;
        let changes = state.machine.take(declared.rule(), seen);
        let mut events = Vec::new();
        for (seen, change) in changes {
            let (kind, limit) = match change {
                Change::Raised => (EventKind::Raised, declared.alarm.limit),
                Change::Cleared => (EventKind::Cleared, declared.clear()),
            };
            let what = what(declared, plant, &seen, limit);
            events.push(self.event(plant, (name, declared, &tag), device, kind, &seen, what)?);
        }
        if let (Some(reason), None, Some(first)) = (&failure, &state.failing, asked.windows.first()) {
            let seen = undecided(first);
            let what = reason.clone();
            events.push(self.event(plant, (name, declared, &tag), device, EventKind::Failed, &seen, what)?);
        }
        if failure.is_some() || !asked.windows.is_empty() {
            state.failing = failure;
        }
        stored.unposted.extend(events.iter().cloned());
        round.events.extend(events);
        Ok(())
    }

    fn event(
        &self,
        plant: &Plant,
        (alarm, declared, tag): (&str, &Declared, &str),
        device: &str,
        kind: EventKind,
        seen: &Seen,
        what: String,
    ) -> Result<Event, OwnerError> {
        let clock = plant.settings().clock()?;
        let now = jiff::Timestamp::now().as_millisecond();
        Ok(Event {
            version: 1,
            id: format!("{alarm}.{device}.{}.{}.{tag}", kind.word(), seen.from),
            alarm: alarm.to_owned(),
            device: device.to_owned(),
            event: kind,
            when: declared.alarm.to_string(),
            from: clock.rfc3339(seen.from),
            to: clock.rfc3339(seen.to),
            value: seen.value,
            bound: seen.bound,
            unit: declared.unit.clone(),
            readings: seen.readings,
            late: now.saturating_sub(seen.to) > LATE_MS + 2 * self.every_ms,
            at: clock.rfc3339(now),
            what,
        })
    }
}

/// Makes all requests of a round. Looks at no answer.
fn ask(plant: &Plant, active: &mut [Active], round: &mut Round) -> (Vec<Evaluated>, Evidence) {
    let mut evaluated = Vec::new();
    let mut evidence = Evidence::default();
    let done = (|| {
        let cloud = plant.cloud()?;
        let mut computer = Computer::new(plant, &cloud, false)?;
        let mut listed: BTreeMap<String, DeviceWindows> = BTreeMap::new();
        let mut names: Vec<&String> = active.iter().flat_map(|alarm| &alarm.devices).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let Some(record) = devices::record(plant, name)? else { continue };
            match windows::list(plant, &cloud, &record, Between::default()) {
                Ok(found) => drop(listed.insert(name.clone(), found)),
                Err(error @ OwnerError::Cloud(_)) => return Err(error),
                Err(error) => round.notes.push(format!("{name}: {error}")),
            }
        }
        round.devices = listed.len();
        for (at, alarm) in active.iter_mut().enumerate() {
            for device in &alarm.devices {
                let Some(listed) = listed.get(device) else { continue };
                let state = alarm.stored.devices.entry(device.clone()).or_default();
                let asked = new_windows(&alarm.declared, alarm.since, listed, state);
                if asked.windows.is_empty() {
                    continue;
                }
                let outcome = judge(plant, &alarm.declared, &asked, &mut computer);
                if let Err(error @ OwnerError::Cloud(_)) = outcome {
                    evidence = std::mem::take(&mut computer.evidence);
                    return Err(error);
                }
                evaluated.push(Evaluated { alarm: at, device: device.clone(), asked, outcome });
            }
        }
        evidence = std::mem::take(&mut computer.evidence);
        Ok(())
    })();
    if let Err(error) = done {
        round.error = Some(error);
    }
    (evaluated, evidence)
}

/// Repeats the cloud's work. Returns the reason why it is not to be believed, if so.
fn refused(plant: &Plant, evidence: &Evidence) -> Option<String> {
    match plant.cloud().and_then(|cloud| trust::verify_work(plant, &cloud, evidence)) {
        Ok(None) => None,
        Ok(Some(finding)) => Some(finding),
        Err(error) => Some(error.to_string()),
    }
}

/// Moves events into the journal and the outbox.
fn post(
    plant: &Plant,
    outbox: &Mutex<Outbox>,
    name: &str,
    declared: &Declared,
    stored: &mut Stored,
) -> Result<(), OwnerError> {
    if stored.unposted.is_empty() {
        return Ok(());
    }
    let now = jiff::Timestamp::now().as_millisecond();
    let sinks = declared.settings.sinks();
    for event in &stored.unposted {
        files::journal(plant, event)?;
        outbox.lock().unwrap_or_else(PoisonError::into_inner).add(event, &sinks, now)?;
    }
    stored.unposted.clear();
    files::store_alarm(plant, name, stored)
}
