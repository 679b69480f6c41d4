//! Round times for an axis, in the UTC offsets found in the rows' text.

use sotto_owner::Row;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Distances of ticks below a month, in milliseconds.
const FIXED: [i64; 28] = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
    14 * DAY,
];
/// Distances of ticks, in months.
const MONTHS: [i64; 10] = [1, 2, 3, 6, 12, 24, 60, 120, 240, 1200];

/// The offsets from UTC over time.
pub(super) struct LocalTime {
    /// Pairs of a time and the offset from then on, in milliseconds, in order of time.
    offsets: Vec<(i64, i64)>,
}

/// A round time.
#[derive(Debug, PartialEq)]
pub(super) struct Tick {
    /// Milliseconds since 1970.
    pub(super) at: i64,
    pub(super) label: String,
    /// The date of a time of day, if it differs from the date of the tick before.
    pub(super) date: Option<String>,
}

impl LocalTime {
    pub(super) fn new<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let both = |row: &'a Row| [(row.from_ms, row.from.as_str()), (row.to_ms, row.to.as_str())];
        let read = |(at, text): (i64, &str)| Some((at, offset(text)?));
        let mut offsets: Vec<(i64, i64)> = rows.into_iter().flat_map(both).filter_map(read).collect();
        offsets.sort_unstable();
        offsets.dedup_by_key(|(_, offset)| *offset);
        Self { offsets }
    }

    /// Returns the offset at a time, in milliseconds.
    fn offset(&self, at: i64) -> i64 {
        let after = self.offsets.partition_point(|(from, _)| *from <= at);
        self.offsets.get(after.saturating_sub(1)).map_or(0, |(_, offset)| *offset)
    }

    /// Returns the offsets as text, without duplicates.
    pub(super) fn names(&self) -> Vec<String> {
        let mut offsets: Vec<i64> = self.offsets.iter().map(|(_, offset)| *offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let name = |offset: i64| {
            let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / MINUTE);
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        };
        offsets.into_iter().map(name).collect()
    }

    /// Returns the instant of a local time.
    fn instant(&self, local: i64) -> i64 {
        let guess = local - self.offset(local);
        local - self.offset(guess)
    }

    /// Returns at most `most` ≥ 2 round local times in `from` … `to`.
    pub(super) fn ticks(&self, from: i64, to: i64, most: usize) -> Vec<Tick> {
        let least = (to - from) / most as i64;
        let within = |locals: &mut dyn Iterator<Item = i64>| -> Vec<i64> {
            let instants = locals.map(|local| self.instant(local));
            let mut instants: Vec<i64> = instants.filter(|at| (from..=to).contains(at)).collect();
            instants.dedup();
            instants
        };
        for step in FIXED.into_iter().filter(|step| *step >= least) {
            // Weeks begin on Monday; 1970-01-01 was a Thursday.
            let phase = if step % (7 * DAY) == 0 { 4 * DAY } else { 0 };
            let first = (from + self.offset(from) - phase).div_euclid(step) * step + phase;
            let instants = within(&mut (0..=most as i64 + 2).map(|at| first + at * step));
            if instants.len() <= most {
                return self.labelled(&instants, |day, time| match step {
                    DAY.. => (date(day), None),
                    MINUTE.. => (clock(time, 5), Some(date(day))),
                    SECOND.. => (clock(time, 8), Some(date(day))),
                    _ => (clock(time, 12), Some(date(day))),
                });
            }
        }
        for step in MONTHS.into_iter().filter(|step| step * 31 * DAY >= least) {
            let (year, month, _) = civil((from + self.offset(from)).div_euclid(DAY));
            let first = (year * 12 + month - 1).div_euclid(step) * step;
            let month_start = |month: i64| days(month.div_euclid(12), month.rem_euclid(12) + 1) * DAY;
            let instants = within(&mut (0..=most as i64 + 2).map(|at| month_start(first + at * step)));
            if instants.len() <= most {
                let length = if step % 12 == 0 { 4 } else { 7 };
                return self.labelled(&instants, |day, _| (date(day).chars().take(length).collect(), None));
            }
        }
        Vec::new()
    }

    /// Labels ticks; a date is kept if it differs from the date of the tick before.
    fn labelled(&self, instants: &[i64], text: impl Fn(i64, i64) -> (String, Option<String>)) -> Vec<Tick> {
        let mut last = None;
        let tick = |at: &i64| {
            let local = at + self.offset(*at);
            let (label, date) = text(local.div_euclid(DAY), local.rem_euclid(DAY));
            let shown = date.clone().filter(|_| last != date);
            last = date;
            Tick { at: *at, label, date: shown }
        };
        instants.iter().map(tick).collect()
    }
}

/// Parses the offset at the end of an RFC 3339 time, in milliseconds.
fn offset(text: &str) -> Option<i64> {
    if text.ends_with(['Z', 'z']) {
        return Some(0);
    }
    let tail = text.get(text.len().checked_sub(6)?..)?;
    let sign = if tail.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = tail.get(1..)?.split_once(':')?;
    Some(sign * (hours.parse::<i64>().ok()? * HOUR + minutes.parse::<i64>().ok()? * MINUTE))
}

fn clock(time: i64, length: usize) -> String {
    let (hour, minute, second) = (time / HOUR, time / MINUTE % 60, time / SECOND % 60);
    let text = format!("{hour:02}:{minute:02}:{second:02}.{:03}", time % SECOND);
    text.chars().take(length).collect()
}

fn date(day: i64) -> String {
    let (year, month, day) = civil(day);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns year, month and day of a day number since 1970. Source: H. Hinnant, "chrono-compatible low-level date
/// algorithms".
fn civil(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // The year begins in March here, so that a leap day is its last day.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns the days from 1970 to the first of a month.
fn days(year: i64, month: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 - 719_468
}

#[cfg(test)]
mod tests {
    use super::super::fixture::row;
    use super::*;

    #[test]
    fn dates_come_back() {
        for (day, expected) in
            [(0, "1970-01-01"), (16_101, "2014-01-31"), (19_782, "2024-02-29"), (-1, "1969-12-31")]
        {
            assert_eq!(date(day), expected);
        }
        for month in 0..4800 {
            let (year, month) = (1800 + month / 12, month % 12 + 1);
            assert_eq!(civil(days(year, month)), (year, month, 1));
        }
    }

    #[test]
    fn ticks_lie_on_round_local_times() {
        let rows: Vec<Row> = (0..48).map(|at| row("t", None, at, None, 0.0)).collect();
        let time = LocalTime::new(&rows);
        assert_eq!(time.names(), ["+01:00"]);
        let ticks = time.ticks(rows[0].from_ms, rows[23].to_ms, 6);
        let labels: Vec<&str> = ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, ["00:00", "06:00", "12:00", "18:00", "00:00"]);
        let dates: Vec<Option<&str>> = ticks.iter().map(|tick| tick.date.as_deref()).collect();
        assert_eq!(dates, [Some("2014-01-31"), None, None, None, Some("2014-02-01")]);
        let labels = |span: i64| -> Vec<String> {
            time.ticks(rows[0].from_ms, rows[0].from_ms + span, 5)
                .into_iter()
                .map(|tick| tick.label)
                .collect()
        };
        assert_eq!(
            labels(200),
            ["00:00:00.000", "00:00:00.050", "00:00:00.100", "00:00:00.150", "00:00:00.200"]
        );
        assert_eq!(labels(3 * DAY), ["2014-01-31", "2014-02-01", "2014-02-02", "2014-02-03"]);
        assert_eq!(labels(100 * DAY), ["2014-02", "2014-03", "2014-04", "2014-05"]);
        assert_eq!(labels(1500 * DAY), ["2015", "2016", "2017", "2018"]);
    }

    #[test]
    fn midnight_stays_midnight_when_the_clocks_change() {
        let at = |ms: i64, text: &str| Row {
            from_ms: ms,
            from: text.to_owned(),
            to: String::new(),
            ..row("t", None, 0, None, 0.0)
        };
        // Zurich: summer time begins on 2014-03-30 at 02:00.
        let rows = [
            at(1_396_047_600_000, "2014-03-29T00:00:00+01:00"),
            at(1_396_216_800_000, "2014-03-31T00:00:00+02:00"),
        ];
        let time = LocalTime::new(&rows);
        let ticks = time.ticks(rows[0].from_ms, rows[1].from_ms + 2 * DAY, 8);
        let last = ticks.iter().find(|tick| tick.at == rows[1].from_ms).map(|tick| tick.label.clone());
        assert_eq!(last.as_deref(), Some("2014-03-31"));
    }
}
