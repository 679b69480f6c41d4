//! The facts of a round, taken into the state of an alarm, and the events that follow.

use sotto_pack::Clock;

use super::active::{Active, Evaluated, Failure, Found};
use super::event::{Event, EventKind, minute};
use super::judge::{Judged, nothing, undecided};
use super::lasting::{Now, Reminder};
use super::round::Round;
use super::seen::{Seen, Verdict};
use super::silence;
use super::told::{Change, Told};
use super::words::{of_silence, what};
use crate::declared::{Plant, Watched};
use crate::windows::StoredWindow;

/// Number of rounds in a row without the cloud after which alarms fail.
const MOST_AWAY: u32 = 3;

/// The time of a round.
pub(super) struct Present {
    pub(super) clock: Clock,
    /// Milliseconds since 1970.
    pub(super) now: i64,
    /// Age at which a window is late, in milliseconds.
    pub(super) late: i64,
}

/// What happened to an alarm about a device.
struct Happened {
    kind: EventKind,
    seen: Seen,
    /// The value in words, or the reason of a failure.
    what: String,
    /// The change that it mends.
    mends: Option<(i64, Change)>,
    /// The end of its name: the same window may raise, be mended, and raise again.
    again: Option<String>,
}

impl Active {
    /// Takes the facts about one device into the state.
    pub(super) fn take(&mut self, plant: &Plant, evaluated: Evaluated, present: &Present, round: &mut Round) {
        let Evaluated { device, asked, outcome, .. } = evaluated;
        let is_away = matches!(&outcome, Err(Failure { away: true, .. }));
        let state = self.stored.devices.entry(device.clone()).or_default();
        state.away = if is_away { state.away.saturating_add(1) } else { 0 };
        if is_away && state.away < MOST_AWAY {
            return;
        }
        if let Ok(Found::Windows(judged)) = &outcome {
            self.note(&device, judged, round);
        }
        let (told, failure) = self.told(&device, &asked, outcome, present, round);
        let mut happened: Vec<Happened> =
            told.into_iter().map(|told| self.in_words(plant, told, present)).collect();
        let state = self.stored.devices.entry(device.clone()).or_default();
        if let (Some(reason), None) = (&failure, &state.failing) {
            let seen = asked.first().map_or_else(|| nothing(present.now), undecided);
            // Windows of one time may fail again.
            state.failures = state.failures.saturating_add(1);
            happened.push(failed(seen, reason, state.failures));
        }
        let is_silence = matches!(self.declared.watched, Watched::Silence(_));
        if failure.is_some() || state.unasked || !asked.is_empty() || is_silence {
            (state.unasked, state.failing) = (failure.is_some() && asked.is_empty(), failure);
        }
        self.add(&device, happened, present, round);
    }

    /// Tells what lasts, and how it is after a mute.
    pub(super) fn remind(&mut self, plant: &Plant, present: &Present, round: &mut Round) {
        let repeat = self.declared.settings.repeat_ms();
        for device in self.devices.clone() {
            let is_muted = self.is_muted(&device, present);
            let Some(state) = self.stored.devices.get_mut(&device) else { continue };
            let raised = state.raised(&self.declared);
            let of = Now {
                now: present.now,
                is_raised: raised.is_some(),
                is_failing: state.failing.is_some(),
                is_muted,
                is_acknowledged: raised.is_some_and(|since| self.mutes.is_acknowledged(&device, since)),
                repeat,
            };
            let events = self.stored.unposted.iter().filter(|event| event.device == device);
            let reminders = state.lasting.get_or_insert_default().take(events, of);
            let happened: Vec<Happened> = reminders
                .into_iter()
                .map(|reminder| self.reminded(plant, &device, reminder, present))
                .collect();
            self.add(&device, happened, present, round);
        }
    }

    /// Takes facts into the state. Returns the changes to tell, and the reason why windows could not be evaluated, or are not
    /// believed.
    fn told(
        &mut self,
        device: &str,
        asked: &[StoredWindow],
        outcome: Result<Found, Failure>,
        present: &Present,
        round: &mut Round,
    ) -> (Vec<Told>, Option<String>) {
        let state = self.stored.devices.entry(device.to_owned()).or_default();
        let (seen, missing, failure) = match outcome {
            Ok(Found::Heard(heard)) => {
                let Watched::Silence(silence) = &self.declared.watched else { return (Vec::new(), None) };
                if let Some(newest) = state.silences.clock_is_behind(present.now) {
                    return (Vec::new(), Some(clock_is_behind(newest, present)));
                }
                return (state.silences.take(silence, &heard, self.since, present.now), None);
            }
            Ok(Found::Windows(judged)) => (judged.seen, judged.missing, judged.faulty),
            Err(Failure { reason, again: false, .. }) => {
                let undecided: Vec<Seen> = asked.iter().map(undecided).collect();
                (undecided, Vec::new(), Some(reason))
            }
            Err(Failure { reason, again: true, .. }) => (Vec::new(), Vec::new(), Some(reason)),
        };
        let Watched::Limit(of) = &self.declared.watched else { return (Vec::new(), failure) };
        if failure.is_none() || !seen.is_empty() {
            state.asked.extend(asked.iter().map(StoredWindow::name));
        }
        round.windows += seen.len() as u64;
        round.undecided += seen.iter().filter(|seen| seen.over == Verdict::Undecided).count() as u64;
        (state.machine.take(of.rule(), seen.into_iter().chain(missing)), failure)
    }

    fn in_words(&self, plant: &Plant, told: Told, present: &Present) -> Happened {
        let Told { seen, change, mends, number } = told;
        let kind = match change {
            Change::Raised => EventKind::Raised,
            Change::Cleared => EventKind::Cleared,
        };
        let what = match &self.declared.watched {
            Watched::Limit(of) => {
                what(of, plant, &seen, if change == Change::Raised { of.alarm.limit } else { of.clear })
            }
            Watched::Silence(silence) => of_silence(silence, &seen, change, &present.clock),
        };
        Happened { kind, seen, what, mends, again: number.map(|number| number.to_string()) }
    }

    /// Describes how it is now.
    fn reminded(&self, plant: &Plant, device: &str, reminder: Reminder, present: &Present) -> Happened {
        let state = self.stored.devices.get(device).cloned().unwrap_or_default();
        let count = state.lasting.as_ref().map_or(0, |lasting| lasting.count);
        let (change, kind) = match reminder {
            Reminder::Still => (Change::Raised, EventKind::Still),
            Reminder::Over => (Change::Cleared, EventKind::Cleared),
            Reminder::Failing => {
                let reason = state.failing.unwrap_or_default();
                // Numbers of failures are counted apart: these are their repetitions.
                let happened = failed(nothing(present.now), &reason, state.failures);
                return Happened { again: Some(format!("after{count}")), ..happened };
            }
        };
        let since = state.raised(&self.declared);
        let last = match &self.declared.watched {
            Watched::Limit(_) => state.machine.last().cloned(),
            Watched::Silence(_) => {
                let from = since.or(state.silences.newest).unwrap_or(present.now);
                let to = if since.is_some() { present.now } else { from };
                Some(silence::seen(from, to, since.map(|since| hours(since, present.now))))
            }
        };
        let mut seen = last.unwrap_or_else(|| nothing(present.now));
        let told = Told { seen: seen.clone(), change, mends: None, number: None };
        let what = match (&self.declared.watched, change) {
            (Watched::Silence(_), Change::Cleared) => "heard again".to_owned(),
            _ => self.in_words(plant, told, present).what,
        };
        seen.from = since.unwrap_or(seen.from);
        Happened { kind, seen, what, mends: None, again: Some(format!("after{count}")) }
    }

    /// Returns true if events about a device go to the log alone.
    fn is_muted(&self, device: &str, present: &Present) -> bool {
        let by_time = |schedule: crate::declared::Schedule| schedule.covers(&present.clock, present.now);
        self.mutes.until(device, present.now).is_some()
            || self.declared.settings.schedule().is_some_and(by_time)
    }

    fn add(&mut self, device: &str, happened: Vec<Happened>, present: &Present, round: &mut Round) {
        let muted = self.is_muted(device, present);
        for happened in happened {
            let event = Event { muted, ..self.event(device, happened, present) };
            self.stored.unposted.push(event.clone());
            round.events.push(event);
        }
    }

    /// Notes windows that the device's bundle does not serve.
    fn note(&self, device: &str, judged: &Judged, round: &mut Round) {
        let name = &self.name;
        if judged.not_carried > 0 {
            let were = if judged.not_carried == 1 {
                "was encrypted for other questions and is"
            } else {
                "were encrypted for other questions and are"
            };
            round.notes.push(format!(
                "{name}: {} of {device} {were} undecided; `sotto device renew {device}` makes a bundle that serves the alarm",
                counted(judged.not_carried as u64)
            ));
        }
        if judged.fetched > 0 {
            round.notes.push(format!(
                "{name}: the readings of {} of {device} were fetched, as they carry no counts for this limit; `sotto device \
                 renew {device}` makes a bundle with counts",
                counted(judged.fetched)
            ));
        }
    }

    fn event(&self, device: &str, happened: Happened, present: &Present) -> Event {
        let Happened { kind, seen, what, mends, again } = happened;
        let (name, tag) = (&self.name, &self.stored.tag);
        let id = |kind: EventKind, from: i64| format!("{name}.{device}.{}.{from}.{tag}", kind.word());
        let mends = mends.map(|(from, change)| match change {
            Change::Raised => id(EventKind::Raised, from),
            Change::Cleared => id(EventKind::Cleared, from),
        });
        let again = again.map_or_else(String::new, |again| format!(".{again}"));
        Event {
            version: 1,
            id: format!("{}{again}", id(kind, seen.from)),
            mends,
            alarm: name.clone(),
            device: device.to_owned(),
            event: kind,
            when: self.declared.to_string(),
            from: present.clock.rfc3339(seen.from),
            to: present.clock.rfc3339(seen.to),
            value: seen.value,
            bound: seen.bound,
            unit: self.declared.unit().to_owned(),
            readings: seen.readings,
            late: present.now.saturating_sub(seen.to) > present.late,
            at: present.clock.rfc3339(present.now),
            what,
            reason: None,
            muted: false,
        }
    }
}

fn failed(seen: Seen, reason: &str, number: u32) -> Happened {
    let again = Some(number.to_string());
    Happened { kind: EventKind::Failed, seen, what: reason.to_owned(), mends: None, again }
}

/// Says why silences cannot be judged by this computer's clock.
fn clock_is_behind(newest: i64, present: &Present) -> String {
    let shown = |at: i64| minute(&present.clock.rfc3339(at));
    format!(
        "this computer's clock says {}, and a reading of {} was heard before: set the clock, until then no silence is judged",
        shown(present.now),
        shown(newest)
    )
}

fn hours(from: i64, to: i64) -> f64 {
    to.saturating_sub(from) as f64 / 3_600_000.0
}

fn counted(windows: u64) -> String {
    if windows == 1 { "1 window".to_owned() } else { format!("{windows} windows") }
}
