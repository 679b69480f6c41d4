//! Rounds over all alarms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::sync::Mutex;

use sotto_cloud_client::{Cloud, CloudError};

use super::active::{Active, Evaluated, Failure, Found};
use super::files::{self, DeviceState, FOLDER};
use super::judge::{Judged, OfAlarm, judge, new_windows, of_alarm};
use super::machine::KEPT;
use super::missing::missing_windows;
use super::outbox::Outbox;
use super::round::Round;
use super::seen::Seen;
use super::silence::HeardTimes;
use super::take::Present;
use crate::declared::{OnLimit, Plant, Watched};
use crate::devices::DeviceRecord;
use crate::error::{OwnerError, io};
use crate::orders::Orders;
use crate::windows::{Between, DeviceWindows, Needed};
use crate::work::{Computer, Evidence};
use crate::{devices, trust, windows};

/// Requests in a row that a cloud lets fail before a round ends.
const MOST_AWAY: u32 = 3;

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
}

impl Watch {
    /// Begins to watch a plant, with a round every `every_ms` milliseconds.
    ///
    /// # Errors
    /// [`OwnerError::NotNow`] if another process watches it; [`OwnerError::Alarm`] if one of its alarms cannot be read:
    /// none is skipped; another [`OwnerError`] if the folder cannot be written.
    pub fn open(plant: &Plant, every_ms: i64) -> Result<Self, OwnerError> {
        files::make_alarm_folders(plant)?;
        let path = plant.path(FOLDER).join("lock");
        let mut options = File::options();
        let lock = options.write(true).create(true).truncate(false).open(&path).map_err(io(&path))?;
        match lock.try_lock() {
            Ok(()) => {
                files::remove_left_over(plant)?;
                plant.settings().alarms.keys().try_for_each(|name| Active::check(plant, name))?;
                Ok(Self { _lock: lock, every_ms })
            }
            Err(TryLockError::WouldBlock) => {
                Err(OwnerError::NotNow("another `sotto watch` runs on this plant: stop it first".to_owned()))
            }
            Err(TryLockError::Error(error)) => Err(io(&path)(error)),
        }
    }

    /// Runs one round: lists every alarm's devices, asks for their new windows, and only then looks at the answers.
    /// Events are in the journal and in the outbox when it returns. Work of the cloud that carries no tags is repeated here
    /// before an alarm acts on it.
    ///
    /// The requests, their order and their lengths follow from the alarms, from the windows that have arrived, and from faults
    /// that no value decides: each alarm asks for a window once, and once more in the next round after an unreachable cloud, a
    /// refusal, a job without an end, a log or a tag that does not hold. Such a fault fails the alarm about its device, and no
    /// other.
    pub fn round(&mut self, plant: &Plant, outbox: &Mutex<Outbox>) -> Round {
        self.round_at(plant, outbox, jiff::Timestamp::now().as_millisecond())
    }

    /// Like [`Watch::round`], as if it were `now_ms` milliseconds since 1970: silences, mutes and repetitions follow from it.
    pub fn round_at(&mut self, plant: &Plant, outbox: &Mutex<Outbox>, now_ms: i64) -> Round {
        let mut round = Round::default();
        if let Err(error) = self.run(plant, outbox, now_ms, &mut round) {
            round.error.get_or_insert(error);
        }
        round
    }

    fn run(
        &self,
        plant: &Plant,
        outbox: &Mutex<Outbox>,
        now: i64,
        round: &mut Round,
    ) -> Result<(), OwnerError> {
        let present = Present { clock: plant.settings().clock()?, now, late: LATE_MS + 2 * self.every_ms };
        let mut active = Vec::new();
        for name in plant.settings().alarms.keys() {
            // All could be read at the start. One that cannot be read any more does not stop the others.
            match Active::read(plant, outbox, name) {
                Ok(alarm) => active.push(alarm),
                Err(error) => {
                    round.notes.push(format!("{name} is not evaluated: {error}"));
                    round.error.get_or_insert(error);
                }
            }
        }
        round.alarms = active.len();
        if active.is_empty() {
            return Ok(());
        }
        let evaluated = ask(plant, &mut active, round);
        for evaluated in evaluated {
            active[evaluated.alarm].take(plant, evaluated, &present, round);
        }
        for alarm in &mut active {
            alarm.remind(plant, &present, round);
            // An alarm that cannot be stored does not stop the others. The next round finds its events again.
            if let Err(error) = alarm.store(plant) {
                round.events.retain(|event| event.alarm != alarm.name);
                round.error.get_or_insert(error);
                continue;
            }
            if let Err(error) = alarm.post(plant, outbox) {
                round.error.get_or_insert(error);
            }
        }
        Ok(())
    }
}

/// A device's record and its windows, or the reason why they cannot be listed.
type Listed = BTreeMap<String, Result<(DeviceRecord, DeviceWindows), String>>;

/// Makes all requests of a round. Looks at no answer. Each alarm has a result about each of its devices.
fn ask(plant: &Plant, active: &mut [Active], round: &mut Round) -> Vec<Evaluated> {
    let mut evaluated = Vec::new();
    if let Err(error) = ask_into(&mut evaluated, plant, active, round) {
        let away = matches!(error, OwnerError::Cloud(CloudError::Away { .. }));
        let done: BTreeSet<(usize, String)> =
            evaluated.iter().map(|done| (done.alarm, done.device.clone())).collect();
        for (alarm, of) in active.iter().enumerate() {
            let left = of.devices.iter().filter(|device| !done.contains(&(alarm, (*device).clone())));
            evaluated.extend(left.map(|device| {
                let failure = Failure { reason: error.to_string(), again: true, away };
                Evaluated { alarm, device: device.clone(), asked: Vec::new(), outcome: Err(failure) }
            }));
        }
        round.error.get_or_insert(error);
    }
    evaluated
}

fn ask_into(
    evaluated: &mut Vec<Evaluated>,
    plant: &Plant,
    active: &mut [Active],
    round: &mut Round,
) -> Result<(), OwnerError> {
    let cloud = plant.cloud()?;
    let mut computer = Computer::new(plant, &cloud, false)?;
    let listed = list(plant, &cloud, active)?;
    round.devices = listed.len();
    evaluate(plant, &mut computer, active, &listed, evaluated, &mut round.notes)
}

/// Lists the windows of all devices that an alarm is about.
fn list(plant: &Plant, cloud: &Cloud, active: &[Active]) -> Result<Listed, OwnerError> {
    let mut listed = Listed::new();
    let (known, orders) = (cloud.devices().collect::<Result<Vec<_>, _>>()?, Orders::new(plant, cloud));
    let names: BTreeSet<&String> = active.iter().flat_map(|alarm| &alarm.devices).collect();
    for name in names {
        let of_device = || {
            let Some(record) = devices::record(plant, name)? else { return Ok(None) };
            let mut found = windows::list(&orders, &record, Between::default(), &Needed::for_alarms())?;
            windows::mark_twice(plant, &known, std::iter::once(&mut found))?;
            Ok(Some((record, found)))
        };
        match of_device() {
            Ok(None) => {}
            Ok(Some(found)) => drop(listed.insert(name.clone(), Ok(found))),
            Err(error @ OwnerError::Cloud(CloudError::Away { .. })) => return Err(error),
            Err(error) => drop(listed.insert(name.clone(), Err(error.to_string()))),
        }
    }
    Ok(listed)
}

/// Evaluates each alarm on the new windows of its devices, or on the times of their readings. Work that carries no tags is
/// repeated.
fn evaluate(
    plant: &Plant,
    computer: &mut Computer<'_>,
    active: &mut [Active],
    listed: &Listed,
    evaluated: &mut Vec<Evaluated>,
    notes: &mut Vec<String>,
) -> Result<(), OwnerError> {
    let mut away = 0;
    for (alarm, of) in active.iter_mut().enumerate() {
        for device in of.devices.clone() {
            let (record, listed) = match listed.get(&device) {
                None => continue,
                Some(Ok(listed)) => (&listed.0, &listed.1),
                Some(Err(reason)) => {
                    let failure = Failure { reason: reason.clone(), again: true, away: false };
                    evaluated.push(Evaluated { alarm, device, asked: Vec::new(), outcome: Err(failure) });
                    continue;
                }
            };
            let (asked, outcome) = match &of.declared.watched {
                Watched::Silence(silence) => {
                    let heard = HeardTimes::of(plant, silence, record, listed);
                    (Vec::new(), Ok(Found::Heard(heard)))
                }
                Watched::Limit(on) => {
                    let state = of.stored.devices.entry(device.clone()).or_default();
                    let asking = Asking { plant, on, since: of.since, record, listed, state };
                    let (asked, late, outcome) = asking.judged(computer);
                    if late > 0 {
                        let name = &of.name;
                        notes.push(format!(
                            "{name}: {late} late windows of {device} are put aside: they are for a time before the last {KEPT} windows"
                        ));
                    }
                    (asked.windows, outcome.map(Found::Windows))
                }
            };
            match outcome {
                Err(error @ OwnerError::Cloud(CloudError::Away { .. })) => {
                    // A cloud may let a single request fail: the others are made all the same, but for one that is gone.
                    away += 1;
                    if away == MOST_AWAY {
                        return Err(error);
                    }
                    evaluated.push(Evaluated { alarm, device, asked, outcome: Err(Failure::from(error)) });
                }
                outcome => {
                    // A silence asks for nothing.
                    if matches!(outcome, Ok(Found::Windows(_)) | Err(_)) {
                        away = 0;
                    }
                    let outcome = match refused(plant, &std::mem::take(&mut computer.evidence)) {
                        // Not by a value: the work was repeated on signed windows.
                        Some(reason) => Err(Failure { reason, again: true, away: false }),
                        None => outcome.map_err(Failure::from),
                    };
                    evaluated.push(Evaluated { alarm, device, asked, outcome });
                }
            }
        }
    }
    Ok(())
}

/// An alarm on a limit about one device, during a round.
struct Asking<'a> {
    plant: &'a Plant,
    on: &'a OnLimit,
    since: i64,
    record: &'a DeviceRecord,
    listed: &'a DeviceWindows,
    state: &'a mut DeviceState,
}

impl Asking<'_> {
    /// Asks for the new windows. Returns them, the number of late windows that are put aside, and the verdicts.
    fn judged(self, computer: &mut Computer<'_>) -> (DeviceWindows, u64, Result<Judged, OwnerError>) {
        let Self { plant, on, since, record, listed, state } = self;
        let OfAlarm { windows, unseen } = of_alarm(plant, on, since, record, listed);
        let (asked, late) = new_windows(windows.clone(), since, listed, state);
        let judged =
            if asked.windows.is_empty() { Ok(Judged::default()) } else { judge(plant, on, &asked, computer) };
        if matches!(judged, Err(OwnerError::Cloud(CloudError::Away { .. }))) {
            return (asked, late, judged);
        }
        let more = more_missing(state, listed);
        let between = || {
            let clock = plant.settings().clock()?;
            let mut missing = missing_windows(on, record, &windows, &listed.windows, &clock);
            missing.retain(|seen| state.machine.looks_from().is_none_or(|from| from <= seen.from));
            Ok::<Vec<Seen>, OwnerError>(missing)
        };
        let judged = judged.and_then(|judged| {
            Ok(Judged { faulty: judged.faulty.or(unseen).or(more), missing: between()?, ..judged })
        });
        (asked, late, judged)
    }
}

/// Returns a text if more windows of a device are missing than in the last round: an alarm cannot look at them.
fn more_missing(state: &mut DeviceState, listed: &DeviceWindows) -> Option<String> {
    let gaps = listed.aside.gaps();
    let before = state.gaps.replace(gaps)?;
    (gaps > before).then(|| {
        let name = &listed.shown;
        let more = gaps - before;
        format!("windows of {name} are missing by their numbers, or the cloud does not give them any more: {more} more than before")
    })
}

/// Repeats the cloud's work. Returns the reason why it is not to be believed, if so.
fn refused(plant: &Plant, evidence: &Evidence) -> Option<String> {
    if evidence.work.is_empty() {
        return None;
    }
    match plant.cloud().and_then(|cloud| trust::verify_work(plant, &cloud, evidence)) {
        Ok(None) => None,
        Ok(Some(finding)) => Some(finding),
        Err(error) => Some(error.to_string()),
    }
}
