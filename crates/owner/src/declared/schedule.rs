//! Times of the week at which an alarm is mute: `sat, sun; 22:00-06:00`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use sotto_pack::Clock;

use crate::language::{TimeOfDay, Weekday};

/// Largest number of parts.
const MOST_PARTS: usize = 64;

/// Times of the week, in the plant's time zone.
///
/// Parts stand between semicolons. A part names days, a time, or both: `sat, sun`, `22:00-06:00`, `mon-fri 12:00-13:00`. A time
/// is half open, and one that ends at or before its beginning goes on into the next day; its days are those on which it begins.
///
/// ```
/// use sotto_owner::alarm::{NotASchedule, Schedule};
/// use sotto_pack::Clock;
///
/// let rome = Clock::new("Europe/Rome")?;
/// let nights: Schedule = "sat, sun; 22:00-06:00".parse()?;
/// let at = |text: &str| text.parse::<jiff::Timestamp>().expect("a time").as_millisecond();
/// assert!(nights.covers(&rome, at("2026-05-04T22:00:00+02:00")), "Monday evening");
/// assert!(nights.covers(&rome, at("2026-05-05T05:59:59+02:00")));
/// assert!(!nights.covers(&rome, at("2026-05-05T06:00:00+02:00")));
/// assert!(nights.covers(&rome, at("2026-05-09T12:00:00+02:00")), "Saturday");
/// let refused: NotASchedule = "satrday".parse::<Schedule>().unwrap_err();
/// assert!(refused.to_string().contains("did you mean saturday?"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// The days on which it begins, from Monday.
    days: [bool; 7],
    /// One that ends before its beginning goes on into the next day. None: whole days.
    time: Option<TimeOfDay>,
}

/// The reason why a text is no schedule.
///
/// Example: [`Schedule`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: write days, times or both, as in sat, sun; 22:00-06:00; mon-fri 12:00-13:00")]
pub struct NotASchedule {
    reason: String,
}

fn wrong(reason: String) -> NotASchedule {
    NotASchedule { reason }
}

impl Schedule {
    /// Returns true if a moment, in milliseconds since 1970, is in one of the times.
    #[must_use]
    pub fn covers(&self, clock: &Clock, at: i64) -> bool {
        let local = clock.local(at);
        let day = usize::from(local.weekday().to_monday_zero_offset().unsigned_abs());
        let minute = 60 * u16::from(local.hour().unsigned_abs()) + u16::from(local.minute().unsigned_abs());
        let before = (day + 6) % 7;
        self.parts.iter().any(|Part { days, time }| match time.map(TimeOfDay::ends) {
            None => days[day],
            Some([from, to]) if from < to => days[day] && (from..to).contains(&minute),
            Some([from, to]) => (days[day] && minute >= from) || (days[before] && minute < to),
        })
    }
}

impl FromStr for Schedule {
    type Err = NotASchedule;

    fn from_str(text: &str) -> Result<Self, NotASchedule> {
        let parts: Vec<&str> = text.split(';').collect();
        if parts.len() > MOST_PARTS {
            return Err(wrong(format!("there are more than {MOST_PARTS} parts")));
        }
        parts.into_iter().map(part).collect::<Result<_, _>>().map(|parts| Self { parts })
    }
}

fn part(text: &str) -> Result<Part, NotASchedule> {
    let (mut days, mut time, mut named) = ([false; 7], None, false);
    for word in text.split([',', ' ']).filter(|word| !word.is_empty()) {
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            if time.replace(time_of_day(word)?).is_some() {
                return Err(wrong(format!("a second time {word} in one part: put a semicolon before it")));
            }
            continue;
        }
        named = true;
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (first, last) = (day(first)?, day(last)?);
        (0..7).take(1 + (last + 7 - first) % 7).for_each(|after| days[(first + after) % 7] = true);
    }
    match (named, time) {
        (false, None) => Err(wrong("a part is empty".to_owned())),
        (false, Some(_)) => Ok(Part { days: [true; 7], time }),
        (true, _) => Ok(Part { days, time }),
    }
}

fn day(word: &str) -> Result<usize, NotASchedule> {
    Weekday::named(word).map(|day| day as usize).ok_or_else(|| {
        let meant = Weekday::near(&word.to_ascii_lowercase());
        let meant = meant.map_or_else(String::new, |day| format!("; did you mean {day}?"));
        wrong(format!("{} is no day{meant}", sotto_program::text::excerpt(word)))
    })
}

fn time_of_day(word: &str) -> Result<TimeOfDay, NotASchedule> {
    let is_none = |(from, to): (&str, &str)| from == to;
    let read = TimeOfDay::read(word).filter(|_| !word.split_once('-').is_some_and(is_none));
    read.ok_or_else(|| {
        wrong(format!("{} is no time of a day, such as 22:00-06:00", sotto_program::text::excerpt(word)))
    })
}

impl Display for Schedule {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (at, Part { days, time }) in self.parts.iter().enumerate() {
            out.write_str(if at > 0 { "; " } else { "" })?;
            let named: Vec<String> = Weekday::ALL
                .iter()
                .zip(days)
                .filter(|(_, is)| **is)
                .map(|(day, _)| day.to_string())
                .collect();
            let whole = named.len() == 7 && time.is_some();
            out.write_str(&if whole { String::new() } else { named.join(", ") })?;
            if let Some(time) = time {
                write!(out, "{}{time}", if whole { "" } else { " " })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    const LONG: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    const HOUR: i64 = 3_600_000;
    /// Monday 2026-05-04T00:00Z.
    const MONDAY: i64 = 1_777_852_800_000;

    #[test]
    fn texts_that_are_no_schedule_say_why() {
        for (text, says) in [
            ("", "empty"),
            ("sat;", "empty"),
            ("saturdy", "did you mean saturday?"),
            ("22:00", "no time of a day"),
            ("22:00-22:00", "no time of a day"),
            ("24:00-06:00", "no time of a day"),
            ("25:00-06:00", "no time of a day"),
            ("9:00-17:00", "no time of a day"),
            ("22:60-23:00", "no time of a day"),
            ("mon 1:00-02:00", "no time of a day"),
            ("00:00-01:00 02:00-03:00", "semicolon"),
        ] {
            let refused = text.parse::<Schedule>().expect_err(text).to_string();
            assert!(refused.contains(says) && refused.contains("sat, sun; 22:00-06:00"), "{text}: {refused}");
        }
        assert!("sat;".repeat(100).parse::<Schedule>().is_err());
    }

    proptest! {
        /// Each hour of a week, beside the rule in plain words: hours count from the beginning of a part's time.
        #[test]
        fn hours_are_those_of_the_rule(day in 0usize..7, count in 1usize..7, from in 0u16..24, length in 1u16..=24) {
            prop_assume!(length < 24 || from == 0);
            let (last, to) = ((day + count - 1) % 7, (from + length) % 24);
            let to = if to == 0 { 24 } else { to };
            let text = format!("{}-{} {from:02}:00-{to:02}:00", DAYS[day], LONG[last]);
            let schedule: Schedule = text.parse().expect("a schedule");
            prop_assert_eq!(&schedule.to_string().parse::<Schedule>().expect("the same"), &schedule);
            let mut muted = [false; 7 * 24];
            for day in (0..count).map(|after| (day + after) % 7) {
                (0..usize::from(length)).for_each(|hour| muted[(24 * day + usize::from(from) + hour) % (7 * 24)] = true);
            }
            for (hour, muted) in (0i64..).zip(muted) {
                for at in [0, HOUR - 1] {
                    prop_assert_eq!(schedule.covers(&Clock::utc(), MONDAY + hour * HOUR + at), muted, "{} {}", text, hour);
                }
            }
        }
    }

    #[test]
    fn the_clock_of_the_plant_decides() {
        let rome = Clock::new("Europe/Rome").expect("a zone");
        let night: Schedule = "02:00-03:00".parse().expect("a schedule");
        let at = |text: &str| text.parse::<jiff::Timestamp>().expect("a time").as_millisecond();
        // Clocks go back: the hour from 2 to 3 comes twice.
        let muted = ["23:59", "00:00", "00:59", "01:00", "01:59", "02:00"].map(|time| {
            let day = if time > "12:00" { 24 } else { 25 };
            night.covers(&rome, at(&format!("2026-10-{day}T{time}:00Z")))
        });
        assert_eq!(muted, [false, true, true, true, true, false]);
        // Clocks go forward: it does not come.
        assert!(
            !night.covers(&rome, at("2026-03-29T00:59:00Z"))
                && !night.covers(&rome, at("2026-03-29T01:00:00Z"))
        );
    }
}
