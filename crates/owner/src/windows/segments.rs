//! The times that the rows of an answer are made of, where a row has several: recurring groups, conditions on the time.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Clock, Span};

use super::calendar::stretch;
use super::group::{Grouping, MOST_GROUPS};
use super::row_time::Group;
use super::time::{Between, divided};
use crate::language::{By, Cycle, Recurs, TimeOfDay};
use crate::question::Question;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// The time of a row of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowTime {
    pub(crate) group: Group,
    /// The recurring group.
    pub(crate) recurs: Option<Recurs>,
}

/// The rows of an answer, and the times that each is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segments {
    /// In order of time; they do not overlap.
    pub(crate) times: Vec<Group>,
    pub(crate) rows: Vec<RowTime>,
    /// For each time its row. None if it does not count.
    pub(crate) row_of: Vec<Option<usize>>,
    /// For each time the one over which a weighted sum has its weights: a question that begins later cuts none of it off.
    pub(crate) weighted: Vec<Group>,
    /// For each time its price in each tariff of the question, from 0.
    pub(crate) prices: Vec<Prices>,
}

/// The positions of prices in the tariffs of a question. None: the tariff has no price.
pub(crate) type Prices = Vec<Option<usize>>;

impl Segments {
    /// Divides the groups of a question. `with_excluded` keeps the times that do not count, for readings before those that
    /// do. Returns None if there are more than [`MOST_GROUPS`] times.
    pub(crate) fn new(
        clock: &Clock,
        question: &Question,
        groups: Vec<Group>,
        with_excluded: bool,
    ) -> Option<Self> {
        if Grouping::of(question) != Grouping::Times || !question.divides_time() {
            return Some(Self::whole(groups));
        }
        let mut segments = Self::default();
        let mut by_key: BTreeMap<[u8; 2], usize> = BTreeMap::new();
        let (cycles, by_days) = (cycles(question.by), question.needs_days());
        let tariffs = question.tariffs();
        let by_hour = cycles.contains(&Some(Cycle::HourOfDay));
        let ends = ends(question);
        for group in groups {
            let mut row_of_group = None;
            for time in pieces(clock, group, &ends, by_hour) {
                let local = clock.local(time.from);
                let row = question.times.holds(&local).then(|| {
                    let recurs = question.by.filter(By::is_recurring);
                    let recurs = recurs.map(|_| Recurs::of(cycles.into_iter().flatten(), &local));
                    let rows = &mut segments.rows;
                    let mut new_row = || {
                        rows.push(RowTime { group, recurs });
                        rows.len() - 1
                    };
                    match recurs {
                        Some(recurs) => {
                            let key = cycles.map(|cycle| cycle.map_or(0, |cycle| recurs.position(cycle)));
                            *by_key.entry(key).or_insert_with(new_row)
                        }
                        None => *row_of_group.get_or_insert_with(&mut new_row),
                    }
                });
                if row.is_some() || with_excluded {
                    let begins_day = by_days && clock.start_of(Span::Day, time.from) == time.from;
                    let prices = tariffs.iter().map(|(_, tariff)| tariff.price_at(&local)).collect();
                    segments.add(time, row, prices, begins_day);
                }
                if segments.times.len() > MOST_GROUPS {
                    return None;
                }
            }
            // One row over all is there without readings, too.
            if row_of_group.is_none() && question.by.is_none() {
                segments.rows.push(RowTime { group, recurs: None });
            }
        }
        segments.order(&by_key);
        Some(segments)
    }

    fn whole(groups: Vec<Group>) -> Self {
        let rows = groups.iter().map(|group| RowTime { group: *group, recurs: None }).collect();
        let prices = vec![Prices::new(); groups.len()];
        let row_of = (0..groups.len()).map(Some).collect();
        Self { rows, row_of, weighted: groups.clone(), times: groups, prices }
    }

    /// Adds a time, to the one before if that is of the same row and prices and ends where it begins, unless it stays `apart`.
    fn add(&mut self, time: Group, row: Option<usize>, prices: Prices, apart: bool) {
        let is_same = self.row_of.last() == Some(&row) && self.prices.last() == Some(&prices);
        match self.times.last_mut() {
            Some(last) if !apart && is_same && last.to == time.from => {
                last.to = time.to;
                self.weighted.last_mut().into_iter().for_each(|weighted| weighted.to = time.to);
            }
            _ => {
                self.times.push(time);
                self.weighted.push(time);
                self.row_of.push(row);
                self.prices.push(prices);
            }
        }
    }

    /// Leaves out times that are in none of the parts of a question's time, and begins with one from `first` on that does not
    /// count: readings follow those in these times.
    pub(super) fn leave_out_around(
        &mut self,
        (clock, question): (&Clock, &Question),
        parts: &[Between],
        first: i64,
    ) {
        self.weighted.clear();
        let times = std::mem::take(&mut self.times).into_iter();
        let all = times.zip(std::mem::take(&mut self.row_of)).zip(std::mem::take(&mut self.prices));
        let mut all = all.peekable();
        let begins = all.peek().map_or(first, |((time, _), _)| time.from);
        let tariffs = question.tariffs();
        if tariffs.is_empty() && first < begins {
            self.add(Group { from: first, to: begins }, None, Prices::new(), false);
        } else {
            // An increase counts at the prices since the reading before.
            for time in pieces(clock, Group { from: first, to: begins }, &ends(question), false) {
                let local = clock.local(time.from);
                let prices = tariffs.iter().map(|(_, tariff)| tariff.price_at(&local)).collect();
                self.add(time, None, prices, false);
            }
        }
        for ((whole, row), prices) in all {
            for (time, counts) in divided(whole, parts) {
                // Times that were apart stay so.
                self.add(time, row.filter(|_| counts), prices.clone(), true);
                self.weighted.last_mut().into_iter().for_each(|weighted| *weighted = whole);
            }
        }
    }

    /// Puts rows in the order of their keys.
    fn order(&mut self, by_key: &BTreeMap<[u8; 2], usize>) {
        if by_key.is_empty() {
            return;
        }
        let mut position = vec![0; self.rows.len()];
        by_key.values().enumerate().for_each(|(at, row)| position[*row] = at);
        self.rows = by_key.values().map(|row| self.rows[*row]).collect();
        self.row_of.iter_mut().flatten().for_each(|row| *row = position[*row]);
    }

    /// Returns, for each row, how much of its times lies between two moments and outside of a gap, in milliseconds.
    pub(crate) fn covered(&self, first: i64, last: i64, gap: Option<Group>) -> Vec<i64> {
        let mut covered = vec![0; self.rows.len()];
        let between = |time: &Group, first: i64, last: i64| {
            time.to.min(last).saturating_sub(time.from.max(first)).max(0)
        };
        for (time, row) in self.times.iter().zip(&self.row_of) {
            if let Some(row) = row {
                let in_gap = gap.map_or(0, |gap| between(time, gap.from.max(first), gap.to.min(last)));
                covered[*row] += between(time, first, last) - in_gap;
            }
        }
        covered
    }

    /// Returns true if each time is a row.
    pub(crate) fn is_whole(&self) -> bool {
        self.row_of.iter().copied().eq((0..self.rows.len()).map(Some))
    }
}

/// Returns the minutes after midnight at which conditions and prices begin and end, in milliseconds.
fn ends(question: &Question) -> Vec<i64> {
    let of_prices = question.tariffs().into_iter().flat_map(|(_, tariff)| tariff.ends());
    let minutes: BTreeSet<u16> =
        question.times.time.into_iter().flat_map(TimeOfDay::ends).chain(of_prices).collect();
    minutes.into_iter().map(|minute| 60_000 * i64::from(minute)).collect()
}

fn cycles(by: Option<By>) -> [Option<Cycle>; 2] {
    match by {
        Some(By::Recurring { first, second }) => [Some(first), second],
        _ => [None, None],
    }
}

/// Divides a time where local days begin, hours too if they count, and conditions begin and end. A piece has one offset of the
/// zone.
fn pieces<'t>(
    clock: &'t Clock,
    time: Group,
    ends: &'t [i64],
    by_hour: bool,
) -> impl Iterator<Item = Group> + use<'t> {
    let unit = if by_hour { HOUR } else { DAY };
    let (mut at, mut of) = (time.from, (i64::MIN, i64::MIN, 0));
    std::iter::from_fn(move || {
        if at >= time.to {
            return None;
        }
        if at >= of.1 {
            of = stretch(clock, at);
        }
        let (_, until, offset) = of;
        let local = at.saturating_add(offset);
        let day = local.div_euclid(DAY) * DAY;
        let next_unit = (local.div_euclid(unit) + 1) * unit;
        let ends = ends.iter().map(|end| day + end).filter(|end| *end > local);
        let next = ends.fold(next_unit, i64::min).saturating_sub(offset);
        // Beyond the calendar, a step forward at least.
        let to = next.min(until).min(time.to).max(at + 1);
        let piece = Group { from: at, to };
        at = to;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUESTIONS: [&str; 14] = [
        "mean(x) by hour of day",
        "mean(x) by weekday",
        "mean(x) by month of year",
        "mean(x) by weekday and hour of day",
        "mean(x) by month of year and weekday where time 22:00-06:00",
        "mean(x) by day where time 22:00-06:00",
        "mean(x) by week where time 02:30-03:15 and weekday in (sun)",
        "mean(x) by 6h where weekday in (sat, sun)",
        "mean(x) where month in (3, 10) and time 01:15-24:00",
        "mean(x) by month from 21 where time 00:00-02:00",
        "mean(x) by hour where time 01:45-02:15",
        "mean(x) by quarter where weekday in (sat, sun, mon) and time 23:30-00:30",
        "degree_days(x, below 18) by month where weekday in (sat, sun)",
        "degree_days(x, below 18)",
    ];

    #[test]
    fn the_time_of_a_gap_is_not_covered() {
        let groups = [(0, DAY), (DAY, 2 * DAY)].map(|(from, to)| Group { from, to });
        let segments = Segments::whole(groups.to_vec());
        let gap = Some(Group { from: 0, to: 6 * HOUR });
        assert_eq!(segments.covered(0, 2 * DAY, None), [DAY, DAY]);
        assert_eq!(segments.covered(0, 2 * DAY, gap), [DAY - 6 * HOUR, DAY]);
        assert_eq!(segments.covered(2 * HOUR, DAY + HOUR, gap), [DAY - 6 * HOUR, HOUR]);
        assert_eq!(segments.covered(20 * HOUR, DAY, gap), [4 * HOUR, 0]);
    }

    const ZONES: [&str; 8] = [
        "UTC",
        "Europe/Rome",
        "Europe/Lisbon",
        "America/St_Johns",
        "America/Sao_Paulo",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Pacific/Apia",
    ];

    /// The row of a minute by a look at the clock: its group, and its recurring group.
    fn plain(clock: &Clock, question: &Question, groups: &[Group], at: i64) -> Option<(Group, Vec<String>)> {
        let local = clock.local(at);
        let text = question.to_string();
        let minute = i32::from(local.hour()) * 60 + i32::from(local.minute());
        let day = local.strftime("%a").to_string().to_lowercase();
        let in_time = text.split_once("time ").is_none_or(|(_, rest)| {
            let number = |at: usize| rest[at..at + 2].parse::<i32>().unwrap();
            let (from, to) = (number(0) * 60 + number(3), number(6) * 60 + number(9));
            if from < to { from <= minute && minute < to } else { minute >= from || minute < to }
        });
        let list = |name: &str| {
            let rest = text.split_once(&format!("{name} in ("))?.1;
            Some(rest.split_once(')')?.0.split(", ").map(str::to_owned).collect::<Vec<_>>())
        };
        let in_days = list("weekday").is_none_or(|days| days.contains(&day));
        let in_months = list("month").is_none_or(|months| months.contains(&local.month().to_string()));
        if !(in_time && in_days && in_months) {
            return None;
        }
        let group = groups.iter().find(|group| group.from <= at && at < group.to)?;
        let by =
            text.split_once(" by ").map_or("", |(_, by)| by.split_once(" where").map_or(by, |(by, _)| by));
        let keys = by.split(" and ").filter_map(|word| match word {
            "hour of day" => Some(local.strftime("%H:00").to_string()),
            "weekday" => Some(day.clone()),
            "month of year" => Some(local.strftime("%b").to_string().to_lowercase()),
            _ => None,
        });
        Some((*group, keys.collect()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn each_minute_is_in_the_row_that_clocks_show(
            zone in prop::sample::select(&ZONES[..]),
            text in prop::sample::select(&QUESTIONS[..]),
            start in 0..1_000_000_i64,
            before in 0..3_000_i64,
            with_excluded in any::<bool>(),
        ) {
            let clock = Clock::new(zone).expect("a zone");
            let question = Question::parse(text).expect(text);
            // From 1995 on, up to a change of the clock and a day or two beyond.
            let start = 788_918_400_000 + start * 1_000_000;
            let change = stretch(&clock, start).1;
            let change = if change > start + 400 * DAY { start } else { change };
            let time = Group { from: change / 60_000 * 60_000 - before * 60_000, to: change / 60_000 * 60_000 + 2 * DAY };
            let groups = match question.by.and_then(super::super::calendar::Calendar::of) {
                None => vec![time],
                Some(calendar) => {
                    let mut groups = Vec::new();
                    let mut from = calendar.start_of(&clock, time.from);
                    while from < time.to {
                        let to = calendar.end_of(&clock, from);
                        groups.push(Group { from, to });
                        from = to;
                    }
                    groups
                }
            };
            let segments = Segments::new(&clock, &question, groups.clone(), with_excluded).expect("few");
            for pair in segments.times.windows(2) {
                prop_assert!(pair[0].to <= pair[1].from);
            }
            let cycles: Vec<Cycle> = cycles(question.by).into_iter().flatten().collect();
            for at in (time.from..time.to).step_by(60_000) {
                let found = segments.times.iter().position(|time| time.from <= at && at < time.to);
                prop_assert!(found.is_some() || !with_excluded);
                let row = found.and_then(|found| segments.row_of[found]).map(|row| segments.rows[row]);
                let found = row.map(|RowTime { group, recurs }| {
                    (group, cycles.iter().filter_map(|cycle| recurs?.part(*cycle)).collect::<Vec<_>>())
                });
                prop_assert_eq!(found, plain(&clock, &question, &groups, at), "{} {} {}", zone, text, clock.rfc3339(at));
            }
            let keys: Vec<_> = segments.rows.iter().filter_map(|row| {
                let recurs = row.recurs?;
                Some(cycles.iter().map(|cycle| recurs.position(*cycle)).collect::<Vec<_>>())
            }).collect();
            prop_assert!(keys.is_sorted(), "{:?}", keys);
        }
    }

    /// From two days before each change of the clock to two days after.
    #[test]
    fn each_minute_has_the_price_that_clocks_show() {
        let tariff = "currency = \"EUR\"\n\
            [[prices]]\nprice = 1\ndate = \"2024-03-30\"\n\
            [[prices]]\nprice = 2\ntime = \"22:15-02:30\"\n\
            [[prices]]\nprice = 3\nweekday = \"sun\"\nmonth = [3, 4]\n\
            [[prices]]\nprice = 4\n";
        let tariff = crate::language::Tariff::parse(tariff).expect("a tariff");
        for zone in ZONES {
            let clock = Clock::new(zone).expect("a zone");
            for text in ["tariff(energy(x), t.toml)", "tariff(energy(x), t.toml) by hour of day"] {
                let mut question = Question::parse(text).expect(text);
                question.attach_tariff("t.toml", &tariff);
                // From 2024-03-29T00:00Z.
                let time = Group { from: 1_711_670_400_000, to: 1_711_670_400_000 + 4 * DAY };
                let segments = Segments::new(&clock, &question, vec![time], true).expect("few");
                for at in (time.from..time.to).step_by(60_000) {
                    let found = segments.times.iter().position(|time| time.from <= at && at < time.to);
                    let local = clock.local(at);
                    let right = match local.strftime("%Y-%m-%d %H:%M %a %m").to_string() {
                        text if text.starts_with("2024-03-30") => 0,
                        text if text[11..16] >= *"22:15" || text[11..16] < *"02:30" => 1,
                        text if text.contains("Sun") => 2,
                        _ => 3,
                    };
                    assert_eq!(
                        found.map(|found| &segments.prices[found][..]),
                        Some(&[Some(right)][..]),
                        "{local}"
                    );
                }
            }
        }
    }

    #[test]
    fn neighbouring_times_of_a_row_are_one() {
        let question = Question::parse("mean(x) where weekday in (sat, sun)").expect("a question");
        // From Monday 2026-05-04T00:00Z.
        let time = Group { from: 1_777_852_800_000, to: 1_777_852_800_000 + 14 * DAY };
        let segments = Segments::new(&Clock::utc(), &question, vec![time], false).expect("few");
        let weekend = |week: i64| {
            let from = time.from + (7 * week + 5) * DAY;
            Group { from, to: from + 2 * DAY }
        };
        assert_eq!(segments.times, [weekend(0), weekend(1)]);
        assert_eq!((segments.rows.len(), segments.row_of), (1, vec![Some(0), Some(0)]));
        let long = Group { from: 0, to: 100_001 * HOUR };
        let by_hour = Question::parse("mean(x) by hour of day").expect("a question");
        assert_eq!(Segments::new(&Clock::utc(), &by_hour, vec![long], false), None);
    }
}
