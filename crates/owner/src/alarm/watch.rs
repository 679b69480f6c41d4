//! Rounds over all alarms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::sync::Mutex;

use sotto_cloud_client::Cloud;

use super::active::{Active, Evaluated};
use super::files::{self, FOLDER};
use super::judge::{judge, new_windows, undecided};
use super::machine::KEPT;
use super::outbox::Outbox;
use super::round::Round;
use crate::declared::Plant;
use crate::error::{OwnerError, io};
use crate::windows::{Between, DeviceWindows, Needed};
use crate::work::{Computer, Evidence};
use crate::{devices, trust, windows};

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
        let names = plant.settings().alarms.keys();
        let mut active =
            names.map(|name| Active::read(plant, outbox, name)).collect::<Result<Vec<_>, OwnerError>>()?;
        round.alarms = active.len();
        if active.is_empty() {
            return Ok(());
        }
        let answered = ask(plant, &mut active, round);
        let refused = if self.verify { refused(plant, &answered.evidence) } else { None };
        for mut evaluated in answered.evaluated {
            evaluated.refused.clone_from(&refused);
            if let (Some(reason), Ok(judged)) = (&refused, &mut evaluated.outcome) {
                judged.seen = evaluated.asked.windows.iter().map(undecided).collect();
                round.notes.push(format!("nothing of this round is believed: {reason}"));
            }
            active[evaluated.alarm].take(plant, evaluated, LATE_MS + 2 * self.every_ms, round)?;
        }
        for alarm in &mut active {
            alarm.store(plant)?;
            alarm.post(plant, outbox)?;
        }
        Ok(())
    }
}

/// The answers of a round, and the evidence of the work behind them.
#[derive(Default)]
struct Answered {
    evaluated: Vec<Evaluated>,
    evidence: Evidence,
}

/// Makes all requests of a round, up to an error of the cloud. Looks at no answer.
fn ask(plant: &Plant, active: &mut [Active], round: &mut Round) -> Answered {
    let mut answered = Answered::default();
    if let Err(error) = ask_into(&mut answered, plant, active, round) {
        round.error = Some(error);
    }
    answered
}

fn ask_into(
    answered: &mut Answered,
    plant: &Plant,
    active: &mut [Active],
    round: &mut Round,
) -> Result<(), OwnerError> {
    let cloud = plant.cloud()?;
    let mut computer = Computer::new(plant, &cloud, false)?;
    let listed = list(plant, &cloud, active, round)?;
    round.devices = listed.len();
    let evaluated =
        evaluate(plant, &mut computer, active, &listed, &mut answered.evaluated, &mut round.notes);
    answered.evidence = std::mem::take(&mut computer.evidence);
    evaluated
}

/// Lists the windows of all devices that an alarm is about.
fn list(
    plant: &Plant,
    cloud: &Cloud,
    active: &[Active],
    round: &mut Round,
) -> Result<BTreeMap<String, DeviceWindows>, OwnerError> {
    let mut listed = BTreeMap::new();
    let names: BTreeSet<&String> = active.iter().flat_map(|alarm| &alarm.devices).collect();
    for name in names {
        let Some(record) = devices::record(plant, name)? else { continue };
        match windows::list(plant, cloud, &record, Between::default(), &Needed::once()) {
            Ok(found) => drop(listed.insert(name.clone(), found)),
            Err(error @ OwnerError::Cloud(_)) => return Err(error),
            Err(error) => round.notes.push(format!("{name}: {error}")),
        }
    }
    Ok(listed)
}

/// Evaluates each alarm on the new windows of its devices.
fn evaluate(
    plant: &Plant,
    computer: &mut Computer<'_>,
    active: &mut [Active],
    listed: &BTreeMap<String, DeviceWindows>,
    evaluated: &mut Vec<Evaluated>,
    notes: &mut Vec<String>,
) -> Result<(), OwnerError> {
    for (number, alarm) in active.iter_mut().enumerate() {
        for device in &alarm.devices {
            let Some(listed) = listed.get(device) else { continue };
            let state = alarm.stored.devices.entry(device.clone()).or_default();
            let (asked, late) = new_windows(&alarm.declared, alarm.since, listed, state);
            if late > 0 {
                let name = &alarm.name;
                notes.push(format!(
                    "{name}: {late} late windows of {device} are put aside: they are for a time before the last {KEPT} windows"
                ));
            }
            if asked.windows.is_empty() {
                continue;
            }
            let outcome = judge(plant, &alarm.declared, &asked, computer);
            if let Err(error @ OwnerError::Cloud(_)) = outcome {
                return Err(error);
            }
            let device = device.clone();
            evaluated.push(Evaluated { alarm: number, device, asked, outcome, refused: None });
        }
    }
    Ok(())
}

/// Repeats the cloud's work. Returns the reason why it is not to be believed, if so.
fn refused(plant: &Plant, evidence: &Evidence) -> Option<String> {
    match plant.cloud().and_then(|cloud| trust::verify_work(plant, &cloud, evidence)) {
        Ok(None) => None,
        Ok(Some(finding)) => Some(finding),
        Err(error) => Some(error.to_string()),
    }
}
