//! Alarms during a round.

use std::sync::{Mutex, PoisonError};

use sotto_cloud_client::CloudError;
use sotto_pack::Clock;

use super::event::{Event, EventKind};
use super::files::{self, Stored};
use super::judge::{self, Judged, nothing, undecided};
use super::outbox::Outbox;
use super::round::Round;
use super::seen::{Seen, Verdict};
use super::told::{Change, Told};
use super::words::what;
use crate::declared::{self, Declared, Plant, SETTINGS};
use crate::error::OwnerError;
use crate::windows::StoredWindow;

/// Number of rounds in a row without the cloud after which alarms fail.
const MOST_AWAY: u32 = 3;

/// An alarm during a round.
pub(super) struct Active {
    pub(super) name: String,
    pub(super) declared: Declared,
    pub(super) devices: Vec<String>,
    /// The start of the first window that the alarm looks at, in milliseconds since 1970.
    pub(super) since: i64,
    pub(super) stored: Stored,
}

/// The new windows of an alarm about one device, evaluated.
pub(super) struct Evaluated {
    /// The position of the alarm among those of the round.
    pub(super) alarm: usize,
    pub(super) device: String,
    /// The windows that were asked for. Empty if there are none, or if they could not be listed.
    pub(super) asked: Vec<StoredWindow>,
    pub(super) outcome: Result<Judged, Failure>,
}

/// The reason why an alarm about a device could not be evaluated.
pub(super) struct Failure {
    pub(super) reason: String,
    /// True if the next round asks for the same windows again. False if the values of an answer are the reason: they must
    /// not decide about a request.
    pub(super) again: bool,
    /// True if the cloud could not be reached: then the alarm fails after some rounds.
    pub(super) away: bool,
}

impl From<OwnerError> for Failure {
    fn from(error: OwnerError) -> Self {
        Self {
            reason: error.to_string(),
            again: !matches!(error, OwnerError::WrongAnswer(_)),
            away: matches!(error, OwnerError::Cloud(CloudError::Away { .. })),
        }
    }
}

/// What the evaluated windows of a device come to.
struct Taken {
    seen: Vec<Seen>,
    /// The reason why windows could not be evaluated, or are not believed.
    failure: Option<String>,
}

/// What happened to an alarm about a device.
struct Happened {
    kind: EventKind,
    seen: Seen,
    /// The value in words, or the reason of a failure.
    what: String,
    /// The change that it mends.
    mends: Option<(i64, Change)>,
    /// Its number, once a change was mended.
    number: Option<u32>,
}

struct Present {
    clock: Clock,
    /// Milliseconds since 1970.
    now: i64,
    /// Age at which a window is late, in milliseconds.
    late: i64,
}

impl Active {
    /// Reads an alarm and its state, and posts events that were left by a process that was stopped.
    pub(super) fn read(plant: &Plant, outbox: &Mutex<Outbox>, name: &str) -> Result<Self, OwnerError> {
        let declared = declared::alarm(plant, name)?;
        let stored = files::stored_alarm(plant, name, &declared)?;
        let mut active =
            Self { name: name.to_owned(), declared, devices: Vec::new(), since: i64::MIN, stored };
        active.post(plant, outbox)?;
        active.devices = judge::alarm_devices(plant, &active.declared)?;
        active.since = judge::alarm_since(plant, &active.declared)?;
        Ok(active)
    }

    /// Reads an alarm and everything that it is evaluated with, and changes nothing.
    ///
    /// # Errors
    /// [`OwnerError::Alarm`] with the file at fault.
    pub(super) fn check(plant: &Plant, name: &str) -> Result<(), OwnerError> {
        let because = |remedy: String| {
            let name = name.to_owned();
            move |error: OwnerError| OwnerError::Alarm { name, reason: error.to_string(), remedy }
        };
        let settings = plant.path(SETTINGS);
        let in_settings = || because(format!("Mend `[alarms.{name}]` in {}", settings.display()));
        let declared = declared::alarm(plant, name).map_err(in_settings())?;
        judge::alarm_since(plant, &declared).map_err(in_settings())?;
        let anew = "Move this file away, and the alarm begins anew";
        files::stored_alarm(plant, name, &declared).map_err(because(anew.to_owned()))?;
        let devices = "Take the file of its device from a backup (`sotto restore`)";
        judge::alarm_devices(plant, &declared).map_err(because(devices.to_owned()))?;
        Ok(())
    }

    /// Moves events into the journal and the outbox.
    pub(super) fn post(&mut self, plant: &Plant, outbox: &Mutex<Outbox>) -> Result<(), OwnerError> {
        if self.stored.unposted.is_empty() {
            return Ok(());
        }
        let now = jiff::Timestamp::now().as_millisecond();
        let sinks = self.declared.settings.sinks();
        for event in &self.stored.unposted {
            files::journal(plant, event)?;
            outbox.lock().unwrap_or_else(PoisonError::into_inner).add(event, &sinks, now)?;
        }
        self.stored.unposted.clear();
        self.store(plant)
    }

    /// Writes the state.
    pub(super) fn store(&self, plant: &Plant) -> Result<(), OwnerError> {
        files::store_alarm(plant, &self.name, &self.stored)
    }

    /// Takes the answers about one device into the state. `late` is the age at which a window is late, in milliseconds.
    pub(super) fn take(
        &mut self,
        plant: &Plant,
        evaluated: Evaluated,
        late: i64,
        round: &mut Round,
    ) -> Result<(), OwnerError> {
        let Evaluated { device, asked, outcome, .. } = evaluated;
        let is_away = matches!(&outcome, Err(Failure { away: true, .. }));
        let state = self.stored.devices.entry(device.clone()).or_default();
        state.away = if is_away { state.away.saturating_add(1) } else { 0 };
        if is_away && state.away < MOST_AWAY {
            return Ok(());
        }
        let Taken { seen, failure } = match outcome {
            Ok(judged) => {
                self.note(&device, &judged, round);
                Taken { seen: judged.seen, failure: judged.faulty }
            }
            Err(Failure { reason, again: false, .. }) => {
                Taken { seen: asked.iter().map(undecided).collect(), failure: Some(reason) }
            }
            Err(Failure { reason, again: true, .. }) => Taken { seen: Vec::new(), failure: Some(reason) },
        };
        let state = self.stored.devices.entry(device.clone()).or_default();
        if failure.is_none() || !seen.is_empty() {
            state.asked.extend(asked.iter().map(StoredWindow::name));
        }
        round.windows += seen.len() as u64;
        round.undecided += seen.iter().filter(|seen| seen.over == Verdict::Undecided).count() as u64;
        let mut happened = Vec::new();
        for Told { seen, change, mends, number } in state.machine.take(self.declared.rule(), seen) {
            let (kind, limit) = match change {
                Change::Raised => (EventKind::Raised, self.declared.alarm.limit),
                Change::Cleared => (EventKind::Cleared, self.declared.clear()),
            };
            let what = what(&self.declared, plant, &seen, limit);
            happened.push(Happened { kind, seen, what, mends, number });
        }
        let now = jiff::Timestamp::now().as_millisecond();
        if let (Some(reason), None) = (&failure, &state.failing) {
            let seen = asked.first().map_or_else(|| nothing(now), undecided);
            // Windows of one time may fail again.
            state.failures = state.failures.saturating_add(1);
            let (mends, number) = (None, Some(state.failures));
            happened.push(Happened { kind: EventKind::Failed, seen, what: reason.clone(), mends, number });
        }
        if failure.is_some() || state.unasked || !asked.is_empty() {
            (state.unasked, state.failing) = (failure.is_some() && asked.is_empty(), failure);
        }
        let present = Present { clock: plant.settings().clock()?, now, late };
        for happened in happened {
            let event = self.event(&device, happened, &present);
            self.stored.unposted.push(event.clone());
            round.events.push(event);
        }
        Ok(())
    }

    /// Notes windows that the device's bundle does not serve.
    fn note(&self, device: &str, judged: &Judged, round: &mut Round) {
        let name = &self.name;
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
    }

    fn event(&self, device: &str, happened: Happened, present: &Present) -> Event {
        let Happened { kind, seen, what, mends, number } = happened;
        let (name, tag) = (&self.name, &self.stored.tag);
        let id = |kind: EventKind, from: i64| format!("{name}.{device}.{}.{from}.{tag}", kind.word());
        let mends = mends.map(|(from, change)| match change {
            Change::Raised => id(EventKind::Raised, from),
            Change::Cleared => id(EventKind::Cleared, from),
        });
        // The same window may raise, be mended, and raise again.
        let again = number.map_or_else(String::new, |number| format!(".{number}"));
        Event {
            version: 1,
            id: format!("{}{again}", id(kind, seen.from)),
            mends,
            alarm: name.clone(),
            device: device.to_owned(),
            event: kind,
            when: self.declared.alarm.to_string(),
            from: present.clock.rfc3339(seen.from),
            to: present.clock.rfc3339(seen.to),
            value: seen.value,
            bound: seen.bound,
            unit: self.declared.unit.clone(),
            readings: seen.readings,
            late: present.now.saturating_sub(seen.to) > present.late,
            at: present.clock.rfc3339(present.now),
            what,
        }
    }
}
