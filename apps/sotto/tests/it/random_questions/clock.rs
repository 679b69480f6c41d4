//! Times by the plant's calendar: groups, spans and conditions, by jiff alone.

use jiff::civil::{self, Date, DateTime};
use jiff::{Timestamp, ToSpan as _, Zoned};

use super::house::{HOUR, House, QUARTER};
use super::language::{By, Cycle, Dates, Earlier, Period, Where};

/// The local time of an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    pub(crate) date: Date,
    minute: i64,
    weekday: i8,
}

/// The local times of all quarters of an hour from one moment on.
pub(crate) struct Clock<'h> {
    house: &'h House,
    first: i64,
    quarters: Vec<Local>,
}

impl<'h> Clock<'h> {
    /// Looks at the clock at each quarter of an hour of the readings.
    pub(crate) fn new(house: &'h House) -> Self {
        let (first, last) = house.span(0);
        let quarters = (first..last).step_by(QUARTER as usize).map(|at| local(&zoned(house, at))).collect();
        Self { house, first, quarters }
    }

    pub(crate) fn local(&self, at: i64) -> Local {
        let position = at.checked_sub(self.first).filter(|since| *since >= 0 && since % QUARTER == 0);
        let known = position.and_then(|since| self.quarters.get((since / QUARTER) as usize).copied());
        known.unwrap_or_else(|| local(&zoned(self.house, at)))
    }

    fn begins(&self, civil: DateTime) -> i64 {
        civil.to_zoned(self.house.zone.clone()).unwrap().timestamp().as_millisecond()
    }

    /// Returns the beginning of the group that contains an instant, and that of the next one.
    pub(crate) fn group(&self, by: By, at: i64) -> (i64, i64) {
        // The zone's offsets are whole hours.
        let part = |length: i64| (at - at.rem_euclid(length), at - at.rem_euclid(length) + length);
        let date = self.local(at).date;
        let of = |first: Date, next: Date| (self.house.midnight(first), self.house.midnight(next));
        match by {
            By::Minutes(minutes) if minutes <= 60 => part(60_000 * minutes),
            By::Hour => part(HOUR),
            By::Minutes(minutes) => {
                let ends = (0..=24 * 60 / minutes)
                    .map(|part| self.begins(date.at(0, 0, 0, 0) + (part * minutes).minutes()));
                let ends: Vec<i64> = ends.collect();
                let next = ends.iter().position(|end| *end > at).unwrap();
                (ends[next - 1], ends[next])
            }
            By::Week => {
                let monday = date - i64::from(date.weekday().to_monday_zero_offset()).days();
                of(monday, monday + 7.days())
            }
            By::Month => of(date.first_of_month(), date.first_of_month() + 1.month()),
            By::MonthFrom(day) => {
                let month = date.first_of_month() - i64::from(i8::from(date.day() < day)).months();
                let first = month + i64::from(day - 1).days();
                of(first, first + 1.month())
            }
            By::Quarter => {
                let first = date.first_of_month() - i64::from((date.month() - 1) % 3).months();
                of(first, first + 3.months())
            }
            By::Year => of(date.first_of_year(), date.first_of_year() + 1.year()),
            By::Day | By::Window | By::Recurring(..) => of(date, date + 1.day()),
        }
    }

    /// Returns all groups that touch a time.
    pub(crate) fn groups(&self, by: By, (from, to): (i64, i64)) -> Vec<(i64, i64)> {
        let mut groups = Vec::new();
        let mut at = from;
        while at < to {
            let group = self.group(by, at);
            groups.push(group);
            at = group.1;
        }
        groups
    }

    /// Returns the beginning and the end of a period; `newest` is the end of the newest window.
    pub(crate) fn period(&self, period: &Period, newest: i64) -> (Option<i64>, Option<i64>) {
        match period {
            Period::All => (None, None),
            Period::Over(count, unit) => {
                let end = zoned(self.house, newest);
                let back = match *unit {
                    "h" => count.hours(),
                    "d" => count.days(),
                    _ => count.weeks(),
                };
                ((&end - back).timestamp().as_millisecond().into(), Some(newest))
            }
            Period::During(span) => {
                let date = |text: &str| text.parse::<Date>().unwrap();
                let (first, next) = match (span.len(), span.split_once("-Q")) {
                    (_, Some((year, quarter))) => {
                        let first = date(&format!("{year}-01-01"))
                            + (3 * (quarter.parse::<i64>().unwrap() - 1)).months();
                        (first, first + 3.months())
                    }
                    (4, _) => (date(&format!("{span}-01-01")), date(&format!("{span}-01-01")) + 1.year()),
                    (7, _) => (date(&format!("{span}-01")), date(&format!("{span}-01")) + 1.month()),
                    _ => (date(span), date(span) + 1.day()),
                };
                (Some(self.house.midnight(first)), Some(self.house.midnight(next)))
            }
            Period::Between(since, until) => {
                let moment = |text: &str| match text.parse::<Timestamp>() {
                    Ok(timestamp) => timestamp.as_millisecond(),
                    Err(_) => self.begins(
                        text.parse().unwrap_or_else(|_| text.parse::<Date>().unwrap().at(0, 0, 0, 0)),
                    ),
                };
                (since.map(moment), until.map(moment))
            }
        }
    }

    /// Returns an instant so much earlier by the calendar.
    pub(crate) fn back(&self, at: i64, earlier: Earlier) -> i64 {
        let Earlier::Time(count, unit) = earlier else { return at };
        let span = match unit {
            "h" => return at - count * HOUR,
            "d" => count.days(),
            "w" => count.weeks(),
            "mo" => count.months(),
            _ => count.years(),
        };
        self.begins(zoned(self.house, at).datetime() - span)
    }

    /// Returns the beginning of the time of equal length before another, by the days and hours that clocks show.
    pub(crate) fn before(&self, (from, to): (i64, i64)) -> i64 {
        let [from, to] = [from, to].map(|at| zoned(self.house, at).datetime());
        self.begins(from - (to - from))
    }

    /// Returns the earlier group of a group; None if clocks skipped it.
    pub(crate) fn earlier_group(&self, by: By, group: (i64, i64), earlier: Earlier) -> Option<(i64, i64)> {
        let before = |groups: i64| (0..groups).fold(group, |group, _| self.group(by, group.0 - 1));
        match (earlier, by) {
            (Earlier::Previous, _) => Some(before(1)),
            (Earlier::Time(hours, "h"), By::Minutes(minutes)) if minutes > 60 => {
                Some(before(60 * hours / minutes))
            }
            _ => {
                let at = self.back(group.0, earlier);
                let [here, there] = [group.0, at].map(|at| zoned(self.house, at).time());
                let is_short = matches!(by, By::Hour) || matches!(by, By::Minutes(minutes) if minutes <= 60);
                let is_skipped = is_short && here != there && !matches!(earlier, Earlier::Time(_, "h"));
                (!is_skipped).then(|| self.group(by, at))
            }
        }
    }

    /// Returns the place in an earlier group that an instant has in its own.
    pub(crate) fn place(&self, at: i64, earlier: Earlier, own: (i64, i64), group: (i64, i64)) -> i64 {
        match earlier {
            Earlier::Previous if own.1 - own.0 <= HOUR => group.0 + at - own.0,
            Earlier::Previous => {
                let [from, at, there] = [own.0, at, group.0].map(|at| zoned(self.house, at).datetime());
                self.begins(there + (at - from))
            }
            earlier => self.back(at, earlier),
        }
    }

    /// Returns true if a reading at this instant counts.
    pub(crate) fn holds(&self, conditions: &Where, at: i64) -> bool {
        let Where { time, weekdays, months, dates, .. } = conditions;
        if time.is_none() && weekdays.is_empty() && months.is_empty() && dates.is_none() {
            return true;
        }
        let local = self.local(at);
        let in_time = time.is_none_or(|(from, to)| {
            let minute = local.minute;
            if from < to { (from..to).contains(&minute) } else { minute >= from || minute < to }
        });
        let in_dates = dates.is_none_or(|Dates { not, file }| is_listed(local.date, file) != not);
        in_time
            && in_dates
            && (weekdays.is_empty() || weekdays.contains(&local.weekday))
            && (months.is_empty() || months.contains(&local.date.month()))
    }

    /// Returns true at night, for the tariff.
    pub(crate) fn is_night(&self, at: i64) -> bool {
        let minute = self.local(at).minute;
        !(6 * 60..22 * 60).contains(&minute)
    }

    /// Returns the recurring group of an instant.
    pub(crate) fn recurs(&self, (one, other): (Cycle, Option<Cycle>), at: i64) -> [i64; 2] {
        let local = self.local(at);
        let key = |cycle: Cycle| match cycle {
            Cycle::Hour => local.minute / 60,
            Cycle::Weekday => i64::from(local.weekday),
            Cycle::Month => i64::from(local.date.month()),
        };
        [key(one), other.map_or(0, key)]
    }
}

/// True for the days of `holidays.txt`, or for those of the list in questions.
fn is_listed(date: Date, file: bool) -> bool {
    let of = |month: i8, day: i8| civil::date(2025, month, day);
    if file {
        date == of(3, 19) || (of(3, 29)..=of(3, 31)).contains(&date)
    } else {
        (of(3, 14)..=of(3, 17)).contains(&date) || date == of(3, 30)
    }
}

fn zoned(house: &House, at: i64) -> Zoned {
    Timestamp::from_millisecond(at).unwrap().to_zoned(house.zone.clone())
}

fn local(at: &Zoned) -> Local {
    let minute = i64::from(at.hour()) * 60 + i64::from(at.minute());
    Local { date: at.date(), minute, weekday: at.weekday().to_monday_zero_offset() }
}
