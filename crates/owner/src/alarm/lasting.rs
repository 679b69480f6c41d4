//! Alarms that last: told again after some time, and when a mute ends.

use serde::{Deserialize, Serialize};

use super::event::{Event, EventKind};

/// The reminders of an alarm about one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lasting {
    /// The time from which reminders are counted, in milliseconds since 1970.
    told_at: Option<i64>,
    /// Number of times to repeat that have passed since.
    repeats: i64,
    /// True if the alarm was muted in the last round.
    was_muted: bool,
    /// True if the last change that sinks got raised the alarm.
    sinks_know: bool,
    /// True if a failure was muted.
    failed_muted: bool,
    /// Number of reminders, which their names carry.
    pub(super) count: u32,
}

/// The facts of a round about an alarm and a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    /// Milliseconds since 1970.
    pub(super) now: i64,
    pub(super) is_raised: bool,
    pub(super) is_failing: bool,
    pub(super) is_muted: bool,
    pub(super) is_acknowledged: bool,
    /// Time after which a lasting alarm is told again, in milliseconds.
    pub(super) repeat: Option<i64>,
}

/// An event that a round adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reminder {
    /// The alarm lasts.
    Still,
    /// It ended while it was muted, and the sinks know of it.
    Over,
    /// It could not be evaluated while it was muted, and still cannot.
    Failing,
}

impl Lasting {
    /// Returns the reminders of a state of an earlier version, which had no mutes: its sinks got every change.
    pub(super) fn known(is_raised: bool) -> Self {
        Self { sinks_know: is_raised, ..Self::default() }
    }

    /// Takes the events of a round, and returns the reminders that follow from them.
    pub(super) fn take<'e>(&mut self, events: impl Iterator<Item = &'e Event>, of: Now) -> Vec<Reminder> {
        let mut is_told = false;
        for event in events {
            match event.event {
                EventKind::Raised => (self.told_at, self.repeats) = (Some(of.now), 0),
                EventKind::Cleared => {}
                EventKind::Failed => self.failed_muted = event.muted,
                _ => continue,
            }
            if !event.muted && event.event != EventKind::Failed {
                self.sinks_know = event.event == EventKind::Raised;
                is_told = true;
            }
        }
        let ends = std::mem::replace(&mut self.was_muted, of.is_muted) && !of.is_muted;
        let mut reminders = Vec::new();
        if of.is_raised {
            // A clock that was ahead in an earlier round counts no more.
            let told_at = self.told_at.unwrap_or(of.now).min(of.now);
            self.told_at = Some(told_at);
            // A round that comes late skips the repetitions before it.
            let repeat = of.repeat.filter(|repeat| *repeat > 0);
            let repeats = repeat.map_or(0, |repeat| of.now.saturating_sub(told_at) / repeat);
            self.repeats = self.repeats.min(repeats);
            let is_due = (repeats > self.repeats && !of.is_muted) || ends;
            if is_due && !of.is_acknowledged && !is_told {
                reminders.push(Reminder::Still);
                self.sinks_know = true;
            }
            if !of.is_muted {
                self.repeats = repeats.max(self.repeats);
            }
        } else {
            self.told_at = None;
            if ends && self.sinks_know {
                reminders.push(Reminder::Over);
                self.sinks_know = false;
            }
        }
        if !of.is_failing {
            self.failed_muted = false;
        } else if ends && std::mem::take(&mut self.failed_muted) {
            reminders.push(Reminder::Failing);
        }
        self.count = self.count.saturating_add(reminders.len() as u32);
        reminders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn event(kind: EventKind, muted: bool) -> Event {
        let json = r#"{"version": 1, "id": "", "alarm": "", "device": "", "event": "test", "when": "", "from": "", "to": "",
            "value": null, "bound": null, "unit": "", "readings": 1, "late": false, "at": "", "what": ""}"#;
        let event: Event = serde_json::from_str(json).expect("an event");
        Event { event: kind, muted, ..event }
    }

    /// Takes a round at an hour, with a repetition each day.
    fn round(
        lasting: &mut Lasting,
        hour: i64,
        raised: bool,
        muted: bool,
        kinds: &[EventKind],
    ) -> Vec<Reminder> {
        let events: Vec<Event> = kinds.iter().map(|kind| event(*kind, muted)).collect();
        let of = Now {
            now: hour * HOUR,
            is_raised: raised,
            is_failing: false,
            is_muted: muted,
            is_acknowledged: false,
            repeat: Some(24 * HOUR),
        };
        let reminders = lasting.take(events.iter(), of);
        let json = serde_json::to_string(lasting).expect("JSON");
        assert_eq!(serde_json::from_str::<Lasting>(&json).expect("the same"), *lasting);
        reminders
    }

    #[test]
    fn a_lasting_alarm_is_told_again_in_its_rhythm() {
        let mut lasting = Lasting::default();
        assert_eq!(round(&mut lasting, 0, true, false, &[EventKind::Raised]), []);
        assert_eq!(round(&mut lasting, 23, true, false, &[]), []);
        assert_eq!(round(&mut lasting, 25, true, false, &[]), [Reminder::Still]);
        assert_eq!(round(&mut lasting, 47, true, false, &[]), []);
        assert_eq!(
            round(&mut lasting, 48, true, false, &[]),
            [Reminder::Still],
            "a late round moves nothing"
        );
        assert_eq!(
            round(&mut lasting, 100, true, false, &[]),
            [Reminder::Still],
            "once, however many were missed"
        );
        assert_eq!(round(&mut lasting, 101, false, false, &[EventKind::Cleared]), []);
        assert_eq!(round(&mut lasting, 200, false, false, &[]), []);
        assert_eq!(round(&mut lasting, 300, true, false, &[EventKind::Raised]), []);
        assert_eq!(round(&mut lasting, 301, true, false, &[]), [], "counted anew");
        assert_eq!(lasting.count, 3);
    }

    #[test]
    fn after_a_mute_sinks_learn_how_it_is() {
        let mut lasting = Lasting::default();
        // Raised while muted, and it lasts.
        assert_eq!(round(&mut lasting, 0, true, true, &[EventKind::Raised]), []);
        assert_eq!(round(&mut lasting, 30, true, true, &[]), [], "no repetition while muted");
        assert_eq!(round(&mut lasting, 31, true, false, &[]), [Reminder::Still]);
        assert_eq!(round(&mut lasting, 32, true, false, &[]), []);
        // Over while muted: sinks were told that it lasts.
        assert_eq!(round(&mut lasting, 33, false, true, &[EventKind::Cleared]), []);
        assert_eq!(round(&mut lasting, 34, false, false, &[]), [Reminder::Over]);
        // Raised and over while muted: nothing to tell.
        assert_eq!(round(&mut lasting, 40, true, true, &[EventKind::Raised]), []);
        assert_eq!(round(&mut lasting, 41, false, true, &[EventKind::Cleared]), []);
        assert_eq!(round(&mut lasting, 42, false, false, &[]), []);
        // It ends in the round in which the mute ends: told once.
        assert_eq!(round(&mut lasting, 50, true, false, &[EventKind::Raised]), []);
        assert_eq!(round(&mut lasting, 51, true, true, &[]), []);
        assert_eq!(round(&mut lasting, 52, false, false, &[EventKind::Cleared]), []);
        assert_eq!(round(&mut lasting, 53, false, false, &[]), []);
    }

    #[test]
    fn a_round_with_a_clock_that_is_ahead_stops_no_reminder() {
        let mut lasting = Lasting::default();
        assert_eq!(round(&mut lasting, 0, true, false, &[EventKind::Raised]), []);
        assert_eq!(round(&mut lasting, 24 * 365, true, false, &[]), [Reminder::Still], "the clock is ahead");
        assert_eq!(round(&mut lasting, 47, true, false, &[]), [], "it is right again");
        assert_eq!(round(&mut lasting, 48, true, false, &[]), [Reminder::Still]);
        // Raised while the clock is ahead.
        assert_eq!(round(&mut lasting, 24 * 365, true, false, &[EventKind::Raised]), []);
        assert_eq!(round(&mut lasting, 50, true, false, &[]), []);
        assert_eq!(round(&mut lasting, 74, true, false, &[]), [Reminder::Still]);
    }

    #[test]
    fn sinks_of_an_earlier_version_knew_of_an_alarm_that_lasts() {
        let mut lasting = Lasting::known(true);
        // It ends in the first round, which is muted.
        assert_eq!(round(&mut lasting, 0, false, true, &[EventKind::Cleared]), []);
        assert_eq!(round(&mut lasting, 1, false, false, &[]), [Reminder::Over]);
        let mut lasting = Lasting::known(false);
        assert_eq!(round(&mut lasting, 0, false, true, &[]), []);
        assert_eq!(round(&mut lasting, 1, false, false, &[]), []);
    }

    #[test]
    fn an_acknowledged_alarm_is_not_told_again() {
        let mut lasting = Lasting::default();
        assert_eq!(round(&mut lasting, 0, true, false, &[EventKind::Raised]), []);
        let of = Now {
            now: 25 * HOUR,
            is_raised: true,
            is_failing: false,
            is_muted: false,
            is_acknowledged: true,
            repeat: Some(24 * HOUR),
        };
        assert_eq!(lasting.take([].iter(), of), []);
        assert_eq!(lasting.take([].iter(), Now { is_muted: true, ..of }), []);
        assert_eq!(lasting.take([].iter(), of), [], "nor when a mute ends");
    }

    #[test]
    fn a_muted_failure_that_lasts_is_told_when_the_mute_ends() {
        let mut lasting = Lasting::default();
        let of = |is_muted| Now {
            now: 0,
            is_raised: false,
            is_failing: true,
            is_muted,
            is_acknowledged: false,
            repeat: None,
        };
        let failed = [event(EventKind::Failed, true)];
        assert_eq!(lasting.take(failed.iter(), of(true)), []);
        assert_eq!(lasting.take([].iter(), of(false)), [Reminder::Failing]);
        assert_eq!(lasting.take([].iter(), of(true)), []);
        assert_eq!(lasting.take([].iter(), of(false)), []);
    }
}
