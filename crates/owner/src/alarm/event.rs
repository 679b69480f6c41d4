//! Events: changes of alarms, for people and programs.

use serde::{Deserialize, Serialize};

/// The kind of an event.
///
/// Example: [`Event`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The condition held in enough consecutive windows.
    Raised,
    /// The alarm ended.
    Cleared,
    /// New windows cannot be evaluated: the alarm cannot be relied on.
    Failed,
    /// The alarm lasts: told again after the time of `repeat`, or when a mute ends.
    Still,
    /// A command muted the alarm. In the log alone.
    Muted,
    /// A command ended a mute. In the log alone.
    Unmuted,
    /// A command acknowledged the alarm. In the log alone.
    Acknowledged,
    /// A test of the sinks.
    Test,
}

impl EventKind {
    /// Returns the word that JSON has: `raised`, `cleared`, `failed`, `still`, `muted`, `unmuted`, `acknowledged` or `test`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Cleared => "cleared",
            Self::Failed => "failed",
            Self::Still => "still",
            Self::Muted => "muted",
            Self::Unmuted => "unmuted",
            Self::Acknowledged => "acknowledged",
            Self::Test => "test",
        }
    }
}

/// An event. Its JSON form is for programs: later versions may add fields, but change none.
///
/// ```
/// use sotto_owner::alarm::{Event, EventKind};
///
/// let json = r#"{
///     "version": 1, "id": "hot.boiler.raised.1391122800000.5c1f", "alarm": "hot", "device": "boiler", "event": "raised",
///     "when": "temperature > 80 for 3 windows", "from": "2014-01-31T00:00:00+01:00",
///     "to": "2014-01-31T01:00:00+01:00", "value": 12.0, "bound": 0.0, "unit": "", "readings": 60, "late": false,
///     "at": "2014-01-31T01:05:00+01:00", "what": "12 of 60 readings > 80 °C"
/// }"#;
/// let event: Event = serde_json::from_str(json)?;
/// assert_eq!(event.event, EventKind::Raised);
/// let text = "ALARM hot, boiler: 12 of 60 readings > 80 °C, 2014-01-31 00:00 to 01:00";
/// assert_eq!(event.text(), text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The version of the form: 1.
    pub version: u32,
    /// The event's name, the same at every attempt to deliver it.
    pub id: String,
    /// The alarm's name.
    pub alarm: String,
    /// The device; empty in a test, and in a command about all devices.
    pub device: String,
    /// What happened.
    pub event: EventKind,
    /// The condition.
    pub when: String,
    /// Start of the window that decided, as RFC 3339; of the first new window if it failed. Of a silence: the last reading, and
    /// the next one when it is over. Of a mute: its start.
    pub from: String,
    /// End of that window, or of the last one if the alarm lasts. Of a silence that lasts: the time of the evaluation. Of a mute: its
    /// end.
    pub to: String,
    /// The value compared, if it is known.
    pub value: Option<f64>,
    /// The largest possible distance of the true value.
    pub bound: Option<f64>,
    /// The value's unit.
    pub unit: String,
    /// Number of readings of the window.
    pub readings: u64,
    /// True if the window had ended long before it was evaluated: the owner or the device was away.
    pub late: bool,
    /// Time of the evaluation.
    pub at: String,
    /// The value in words; the command that muted or acknowledged.
    pub what: String,
    /// The reason that a command gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if the alarm was muted: no sink gets the event.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub muted: bool,
    /// The beginning of the id of an earlier event that is none any more, as late readings or a correction came: this one
    /// says how it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mends: Option<String>,
}

impl Event {
    /// Returns the event as a line for people.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { alarm, device, what, late, .. } = self;
        let mends = if self.mends.is_some() { "; mends an earlier event" } else { "" };
        let late = if *late { " (late)" } else { "" };
        let muted = if self.muted { " [muted]" } else { "" };
        // A silence says since when.
        let is_said = what.contains(&minute(&self.from));
        let span = || if is_said { String::new() } else { format!(", {}", span(&self.from, &self.to)) };
        let about = if device.is_empty() { alarm.clone() } else { format!("{alarm}, {device}") };
        let reason = self.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        match self.event {
            EventKind::Raised => format!("ALARM {about}: {what}{}{late}{mends}{muted}", span()),
            EventKind::Cleared => format!("over: {about}: {what}{}{late}{mends}{muted}", span()),
            EventKind::Failed => format!("{about}: cannot be evaluated: {what}{muted}"),
            EventKind::Still if is_said => format!("still ALARM {about}: {what}{late}{muted}"),
            EventKind::Still => {
                format!("still ALARM {about}: {what}, since {}{late}{muted}", minute(&self.from))
            }
            EventKind::Muted => {
                format!("muted: {about}, {} to {}{reason} ({what})", minute(&self.from), minute(&self.to))
            }
            EventKind::Unmuted => format!("unmuted: {about}, {}{reason} ({what})", minute(&self.from)),
            EventKind::Acknowledged => {
                format!("acknowledged: {about}, {}{reason} ({what})", minute(&self.to))
            }
            EventKind::Test => format!("test of alarm {alarm}: {what}"),
        }
    }
}

/// Returns a time to the minute: `2014-01-31 12:30`.
pub(super) fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replacen('T', " ", 1)
}

/// Returns two times to the minute, the date once if it is the same. Whole days are dates.
pub(super) fn span(from: &str, to: &str) -> String {
    let parts = |time: &str| {
        let (date, clock) = time.split_once('T').unwrap_or((time, ""));
        (date.to_owned(), clock.get(..5).unwrap_or("").to_owned())
    };
    let ((from_date, from_clock), (to_date, to_clock)) = (parts(from), parts(to));
    if from_date == to_date {
        format!("{from_date} {from_clock} to {to_clock}")
    } else if from_clock == "00:00"
        && to_clock == "00:00"
        && next_day(&from_date).as_deref() == Some(&*to_date)
    {
        from_date
    } else {
        format!("{from_date} {from_clock} to {to_date} {to_clock}")
    }
}

fn next_day(date: &str) -> Option<String> {
    date.parse::<jiff::civil::Date>().ok()?.tomorrow().ok().map(|date| date.to_string())
}
