//! Which windows are old enough for the cloud to keep their sums alone.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;
use sotto_pack::Clock;
use sotto_rlwe::Origin;
use sotto_wire::{FromLog, MOST_RUNS, RollUp, StreamHeader, StreamTag};

use super::calendar::Calendar;
use super::known::identity;
use super::mirror::{Entry, StreamLog};
use super::replaced::replaced;
use super::rolled::RollUps;
use super::row_time::Group;
use crate::error::OwnerError;
use crate::language::{By, Duration};
use crate::quantities::{Input, Rolled};
use crate::streams::capacity;

/// Milliseconds of a year.
const YEAR: i64 = 31_557_600_000;

/// The time over which windows are added up.
///
/// Example: [`RollUpLevel`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RollUpUnit {
    /// Hours, of streams that are cut by the hour.
    Hour,
    /// Days.
    Day,
    /// Weeks, from Monday on.
    Week,
    /// Months.
    Month,
    /// Quarters.
    Quarter,
    /// Years.
    Year,
}

impl RollUpUnit {
    fn calendar(self) -> Option<Calendar> {
        Calendar::of(match self {
            Self::Hour => By::Hour,
            Self::Day => By::Day,
            Self::Week => By::Week,
            Self::Month => By::Month,
            Self::Quarter => By::Quarter,
            Self::Year => By::Year,
        })
    }
}

/// An age of windows, as `90d` or `2y`.
///
/// ```
/// use sotto_owner::Age;
///
/// assert_eq!("90d".parse::<Age>()?.milliseconds(), 90 * 86_400_000);
/// assert_eq!("2y".parse::<Age>()?.milliseconds(), 2 * 31_557_600_000);
/// assert!("soon".parse::<Age>().is_err());
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(i64);

impl Age {
    /// Returns it in milliseconds; a year has 365.25 days.
    #[must_use]
    pub fn milliseconds(self) -> i64 {
        self.0
    }
}

impl FromStr for Age {
    type Err = OwnerError;

    fn from_str(text: &str) -> Result<Self, OwnerError> {
        let years = text.strip_suffix('y').map(|years| years.parse::<u16>().ok().filter(|years| *years > 0));
        let milliseconds = match years {
            Some(years) => years.map(|years| YEAR * i64::from(years)),
            None => text.parse::<Duration>().ok().and_then(|age| i64::try_from(1000 * age.seconds()).ok()),
        };
        let wrong = || OwnerError::Question(format!("`{text}` is no age: write `90d`, `12w` or `2y`"));
        milliseconds.map(Self).ok_or_else(wrong)
    }
}

/// The span of time whose windows become one sum, and the age until which they are kept so, as `day:2y` or `month:forever`.
///
/// ```
/// use sotto_owner::{RollUpLevel, RollUpUnit};
///
/// let level: RollUpLevel = "month:forever".parse()?;
/// assert_eq!((level.unit, level.until), (RollUpUnit::Month, None));
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollUpLevel {
    /// The time of a sum.
    pub unit: RollUpUnit,
    /// The age from which on the next level holds; None for the last one.
    pub until: Option<Age>,
}

impl FromStr for RollUpLevel {
    type Err = OwnerError;

    fn from_str(text: &str) -> Result<Self, OwnerError> {
        let wrong = || {
            OwnerError::Question(format!(
                "`{text}` is no roll-up: write a unit (hour, day, week, month, quarter, year) and an age, as `day:2y` or `month:forever`"
            ))
        };
        let (unit, until) = text.split_once(':').ok_or_else(wrong)?;
        let unit = match unit {
            "hour" => RollUpUnit::Hour,
            "day" => RollUpUnit::Day,
            "week" => RollUpUnit::Week,
            "month" => RollUpUnit::Month,
            "quarter" => RollUpUnit::Quarter,
            "year" => RollUpUnit::Year,
            _ => return Err(wrong()),
        };
        let until = if until == "forever" { None } else { Some(until.parse().map_err(|_| wrong())?) };
        Ok(Self { unit, until })
    }
}

/// The age up to which windows of a channel stay as they are, and the sums that older ones become.
///
/// ```
/// use sotto_owner::{Age, Retention};
///
/// let levels = vec!["day:2y".parse()?, "month:forever".parse()?];
/// let retention = Retention::new("temperature", "90d".parse::<Age>()?, levels)?;
/// assert!(Retention::new("temperature", "3y".parse::<Age>()?, retention.levels.clone()).is_err());
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The channel's name.
    pub channel: String,
    /// The age up to which windows stay.
    pub age: Age,
    /// The sums that older ones become, the youngest first.
    pub levels: Vec<RollUpLevel>,
}

impl Retention {
    /// Checks the levels.
    ///
    /// # Errors
    /// [`OwnerError::Question`] unless there is a level, ages rise, and the last level holds for ever.
    pub fn new(channel: &str, age: Age, levels: Vec<RollUpLevel>) -> Result<Self, OwnerError> {
        let refuse = |reason: &str| Err(OwnerError::Question(reason.to_owned()));
        let Some((last, others)) = levels.split_last() else {
            return refuse(
                "name the sums that older windows become: `--roll-up month:forever`; `sotto forget --before` deletes them",
            );
        };
        if last.until.is_some() {
            return refuse(
                "the last roll-up ends with `:forever`; `sotto forget --before` deletes windows and their sums",
            );
        }
        let ages: Option<Vec<Age>> =
            std::iter::once(Some(age)).chain(others.iter().map(|level| level.until)).collect();
        if ages.is_none_or(|ages| !ages.is_sorted_by(|before, after| before < after)) {
            return refuse("roll-ups stand in the order of their ages, the youngest first");
        }
        Ok(Self { channel: channel.to_owned(), age, levels })
    }

    /// Returns true if a level is of hours.
    pub(crate) fn has_hours(&self) -> bool {
        self.levels.iter().any(|level| level.unit == RollUpUnit::Hour)
    }

    /// Returns the time of the sum that a window belongs to which starts at `at`, or None if it stays. A stream that is not cut by
    /// the hour has no sums of hours.
    fn group(&self, clock: &Clock, (at, by_hour): (i64, bool), now: i64) -> Option<(Calendar, i64)> {
        if now.saturating_sub(at) < self.age.0 {
            return None;
        }
        let ages = std::iter::once(self.age).chain(self.levels.iter().filter_map(|level| level.until));
        let levels: Vec<(Age, &RollUpLevel)> = ages.zip(&self.levels).collect();
        let mut levels = levels.iter().rev().filter(|(_, level)| by_hour || level.unit != RollUpUnit::Hour);
        levels.find_map(|(age, level)| {
            let calendar = level.unit.calendar()?;
            let end = calendar.end_of(clock, at);
            (now.saturating_sub(end) >= age.0).then(|| (calendar, calendar.start_of(clock, at)))
        })
    }
}

/// Windows of a stream that become one sum.
#[derive(Debug)]
pub(crate) struct ToSum {
    pub(crate) header: Arc<StreamHeader>,
    /// Runs of positions in the log, each with the one behind its last.
    pub(crate) positions: Vec<(u64, u64)>,
    /// The starts of the first and the last window.
    pub(crate) span: (i64, i64),
}

impl ToSum {
    /// Returns the number of windows.
    pub(crate) fn windows(&self) -> u64 {
        self.positions.iter().map(|(from, to)| to - from).sum()
    }

    /// Returns the windows, as inputs, each with the position of its first one.
    pub(crate) fn inputs(&self, log: &StreamLog, earlier: &RollUps) -> Vec<(u64, Input)> {
        let mut inputs = Vec::new();
        let pieces = self.positions.iter().flat_map(|(from, to)| log.pieces_between(*from, *to));
        for (first, count) in pieces {
            let mut behind = 0;
            while behind < count {
                let entry = first.nth(behind);
                let (rolled, until) = earlier.from(entry.position);
                let windows = (count - behind).min(until - entry.position);
                let input = input(&entry, &self.header, (windows, rolled));
                inputs.extend(input.map(|input| (entry.position, input)));
                behind += windows;
            }
        }
        inputs
    }

    /// Leaves out some windows.
    pub(crate) fn leave_out(&mut self, positions: &BTreeSet<u64>) {
        let left = self.positions.iter().flat_map(|(from, to)| *from..*to);
        let left = left.filter(|position| !positions.contains(position));
        self.positions = FromLog::of(0, [0; 32], left).runs;
    }
}

/// Returns windows of sums of one piece of a log as an input.
fn input(entry: &Entry<'_>, header: &StreamHeader, (count, rolled): (u64, Option<Rolled>)) -> Option<Input> {
    let description = entry.description()?;
    Some(Input {
        id: String::new(),
        identity: identity(Some(header), entry.sequence()),
        sequence: entry.sequence(),
        bytes: entry.bytes(),
        name: entry.mask(),
        ticks: 0..description.ticks(),
        window: Arc::new(description),
        offset: 0,
        origin: Origin::SecretKey,
        rolled,
        count: u32::try_from(count).ok()?,
    })
}

/// A window, or all those of one sum.
struct Atom {
    start: i64,
    positions: Vec<u64>,
    rolled: Option<Rolled>,
}

/// Returns the groups of windows that a retention adds up now and earlier orders did not. `by_hour` is true for a stream whose
/// windows do not cross the end of an hour.
pub(crate) fn to_roll_up(
    retention: &Retention,
    (log, by_hour): (&StreamLog, bool),
    earlier: &RollUps,
    clock: &Clock,
    now: i64,
) -> Vec<ToSum> {
    let mut groups = Vec::new();
    for (header, atoms) in atoms(retention, (log, by_hour), earlier, clock, now).into_values() {
        // The cloud keeps no sums of the other parts.
        let most = capacity(&header, header.adding_parts().map(usize::from)).unwrap_or_default();
        // One atom alone is as it was.
        for group in cut(&atoms, most).into_iter().filter(|group| group.len() > 1) {
            let mut positions: Vec<u64> =
                group.iter().flat_map(|atom| atom.positions.iter().copied()).collect();
            positions.sort_unstable();
            let positions = FromLog::of(0, [0; 32], positions).runs;
            let span = (group[0].start, group[group.len() - 1].start);
            groups.push(ToSum { header: header.clone(), positions, span });
        }
    }
    groups
}

/// Cuts atoms into groups of at most so many windows, as many as there is room for.
fn cut(atoms: &[Atom], most: u64) -> Vec<&[Atom]> {
    let (mut groups, mut first, mut count) = (Vec::new(), 0, 0);
    for (at, atom) in atoms.iter().enumerate() {
        let windows = atom.positions.len() as u64;
        if count + windows > most {
            groups.push(&atoms[first..at]);
            (first, count) = (at, 0);
        }
        count += windows;
    }
    groups.push(&atoms[first..]);
    groups
}

/// Returns the orders that name these groups. A group of more runs than an order names is left out.
pub(crate) fn roll_up_orders(stream: &str, log: &StreamLog, groups: &[ToSum]) -> Vec<RollUp> {
    let (size, root) = (log.tree().size(), log.tree().root());
    let (mut orders, mut runs) = (Vec::<RollUp>::new(), 0);
    for group in groups.iter().map(|group| &group.positions).filter(|group| group.len() <= MOST_RUNS) {
        runs += group.len();
        match orders.last_mut().filter(|_| runs <= MOST_RUNS) {
            Some(order) => order.groups.push(group.clone()),
            None => {
                runs = group.len();
                let groups = vec![group.clone()];
                orders.push(RollUp { stream: stream.to_owned(), size, root, groups });
            }
        }
    }
    orders
}

/// Windows by their stream's tag and the start of their sum, in order of time.
type ByGroup = BTreeMap<([u8; 8], i64), (Arc<StreamHeader>, Vec<Atom>)>;

/// Returns the windows that a retention adds up. Those of an earlier sum stay together; one that is not whole in a group is left
/// out. So is a window of which some readings do not count, as another one corrects them.
fn atoms(
    retention: &Retention,
    (log, by_hour): (&StreamLog, bool),
    earlier: &RollUps,
    clock: &Clock,
    now: i64,
) -> ByGroup {
    let mut all = ByGroup::new();
    let mut known: Option<(Group, Calendar)> = None;
    let replaced = replaced(log);
    for (first, count) in log.pieces() {
        let Some(header) = first.stream().filter(|header| first.is_signed() && header.is_of_sums()) else {
            continue;
        };
        if first.is_provisional() {
            continue;
        }
        for entry in first.all(count) {
            if !replaced.channels(entry.sequence()).is_empty() {
                continue;
            }
            let Some(start) = entry.start().or_else(|| Some(entry.description()?.start)) else { continue };
            // Most windows are of the group of the one before.
            let group = match known {
                Some((span, calendar)) if span.from <= start && start < span.to => {
                    Some((calendar, span.from))
                }
                _ => retention.group(clock, (start, by_hour), now),
            };
            if let Some((calendar, from)) = group {
                if known.is_none_or(|(span, _)| span.from != from) {
                    known = Some((Group { from, to: calendar.end_of(clock, start) }, calendar));
                }
                let StreamTag(tag) = header.id().tag();
                let (_, atoms) = all.entry((tag, from)).or_insert_with(|| (header.clone(), Vec::new()));
                let rolled = earlier.at(entry.position);
                atoms.push(Atom { start, positions: vec![entry.position], rolled });
            }
        }
    }
    for (_, atoms) in all.values_mut() {
        // Windows of one sum become one atom.
        atoms.sort_by_key(|atom| (atom.rolled.map(|rolled| rolled.number), atom.start));
        atoms.dedup_by(|next, before| {
            let is_same = next.rolled.is_some() && next.rolled == before.rolled;
            if is_same {
                before.positions.append(&mut next.positions);
            }
            is_same
        });
        atoms.retain(|atom| atom.rolled.is_none_or(|rolled| rolled.windows as usize == atom.positions.len()));
        atoms.sort_by_key(|atom| atom.start);
    }
    all
}

#[cfg(test)]
mod tests {
    use sotto_pack::{Replaces, WindowDescription};

    use super::super::made;
    use super::*;
    use crate::quantities::{InputRun, Inputs};

    const HOUR: i64 = 3_600_000;

    fn log(windows: &[sotto_wire::Envelope]) -> StreamLog {
        let mut log = StreamLog::default();
        made::items(windows).0.iter().for_each(|item| log.push(item, &item.leaves(), |_| false).unwrap());
        log
    }

    fn retention(age: &str, levels: &[&str]) -> Retention {
        let levels = levels.iter().map(|level| level.parse().unwrap()).collect();
        Retention::new("level", age.parse().unwrap(), levels).unwrap()
    }

    /// Returns the groups of all orders, and the sums that they leave with earlier ones.
    fn ordered(
        retention: &Retention,
        log: &StreamLog,
        earlier: &mut Vec<RollUp>,
        now: i64,
    ) -> Vec<Vec<(u64, u64)>> {
        let given = RollUps::of(earlier);
        let found = to_roll_up(retention, (log, true), &given, &Clock::utc(), now);
        let orders = roll_up_orders("tank", log, &found);
        let groups: Vec<Vec<(u64, u64)>> = orders.iter().flat_map(|order| order.groups.clone()).collect();
        assert_eq!(found.len(), groups.len());
        for group in &found {
            // Its inputs are its windows, in their order.
            let numbers: Vec<u64> = (log.pieces().flat_map(|(first, count)| first.all(count)))
                .filter(|entry| {
                    group.positions.iter().any(|(from, to)| (*from..*to).contains(&entry.position))
                })
                .map(|entry| entry.sequence())
                .collect();
            let inputs: Vec<Input> = group.inputs(log, &given).into_iter().map(|(_, input)| input).collect();
            let inputs = Inputs::of(&inputs);
            assert!(
                inputs.runs(0..inputs.len()).flat_map(InputRun::each).map(InputRun::sequence).eq(numbers)
            );
            assert_eq!(inputs.len() as u64, group.windows());
        }
        earlier.extend(orders);
        groups
    }

    #[test]
    fn days_that_are_old_enough_become_sums_and_these_become_months() {
        // 40 days of hours from the first of January 1970 on.
        let windows: Vec<sotto_wire::Envelope> =
            (0..960).map(|hour| made::window(&made::stream(), hour, HOUR * hour as i64, 60)).collect();
        let log = log(&windows);
        let (days, mut given) = (retention("10d", &["day:20d", "month:forever"]), Vec::new());
        let day = |day: u64| vec![(24 * day, 24 * day + 24)];
        // A day is whole and 10 days old.
        assert!(ordered(&days, &log, &mut given, 24 * HOUR * 11 - 1).is_empty());
        assert_eq!(ordered(&days, &log, &mut given, 24 * HOUR * 11), [day(0)]);
        assert_eq!(ordered(&days, &log, &mut given, 24 * HOUR * 13), [day(1), day(2)]);
        assert!(ordered(&days, &log, &mut given, 24 * HOUR * 13).is_empty());
        // January is 20 days old: 744 windows, more than a place of 23 bits holds beside the bits of a reading.
        let most = capacity(&made::stream(), [0]).unwrap();
        let groups = ordered(&days, &log, &mut given, 24 * HOUR * 51);
        let month: u64 =
            groups.iter().flatten().filter(|(_, to)| *to <= 744).map(|(from, to)| to - from).sum();
        assert_eq!(month, 744);
        assert!(groups.iter().all(|group| group.iter().map(|(from, to)| to - from).sum::<u64>() <= most));
        // February is not whole yet: its days are sums.
        assert!(groups.contains(&day(31)) && groups.contains(&day(39)), "{groups:?}");
        let all = RollUps::of(&given);
        assert!((0..960).all(|position| all.at(position).is_some()));
    }

    #[test]
    fn windows_that_come_later_join_the_sum_of_their_day() {
        let window = |hour: u64| made::window(&made::stream(), hour, HOUR * hour as i64, 60);
        let mut windows: Vec<sotto_wire::Envelope> = (0..48).filter(|hour| *hour != 5).map(window).collect();
        let (days, mut given) = (retention("1d", &["day:forever"]), Vec::new());
        let now = 24 * HOUR * 9;
        assert_eq!(ordered(&days, &log(&windows), &mut given, now), [vec![(0, 23)], vec![(23, 47)]]);
        windows.push(window(5));
        let late = log(&windows);
        assert_eq!(ordered(&days, &late, &mut given, now), [vec![(0, 23), (47, 48)]]);
        let all = RollUps::of(&given);
        assert_eq!(all.at(0), all.at(47));
        assert_eq!(all.at(0).unwrap().windows, 24);
        assert!(ordered(&days, &late, &mut given, now).is_empty());
    }

    #[test]
    fn hours_are_of_streams_that_are_cut_by_the_hour() {
        let quarter = |at: u64| made::window(&made::stream(), at, HOUR / 4 * at as i64, 15);
        let log = log(&(0..200).map(quarter).collect::<Vec<_>>());
        let hours = retention("1d", &["hour:3d", "day:forever"]);
        let found = |by_hour, now| {
            let groups = to_roll_up(&hours, (&log, by_hour), &RollUps::of(&[]), &Clock::utc(), now);
            groups.into_iter().flat_map(|group| group.positions).collect::<Vec<_>>()
        };
        // Hours of a day, and then days.
        assert_eq!(found(true, 26 * HOUR), [(0, 4), (4, 8)]);
        assert_eq!(found(false, 26 * HOUR), []);
        for by_hour in [true, false] {
            let of_days = found(by_hour, 24 * HOUR * 5);
            assert_eq!(of_days[..2], [(0, 96), (96, 192)], "{by_hour}");
        }
    }

    #[test]
    fn windows_that_others_correct_stay_as_they_are() {
        let window = |hour: u64| made::window(&made::stream(), hour, HOUR * hour as i64, 60);
        let mut windows: Vec<sotto_wire::Envelope> = (0..24).map(window).collect();
        // Two correct one, of which the later one counts.
        for number in [24, 25] {
            let described = WindowDescription {
                rounded: Some(vec![0]),
                replaces: Some(Replaces { windows: vec![5], channels: vec![0] }),
                ..WindowDescription::whole(made::stream().layout(), 5 * HOUR, made::stream().period(), 60)
            };
            windows.push(made::described_window(&made::stream(), number, described));
        }
        let (days, mut given) = (retention("1d", &["day:forever"]), Vec::new());
        let groups = ordered(&days, &log(&windows), &mut given, 24 * HOUR * 9);
        assert_eq!(groups, [vec![(0, 5), (6, 24), (25, 26)]]);
    }

    #[test]
    fn a_week_is_no_part_of_a_month() {
        let windows: Vec<sotto_wire::Envelope> =
            (0..60).map(|day| made::window(&made::stream(), day, 24 * HOUR * day as i64, 60)).collect();
        let (log, mut given) = (log(&windows), Vec::new());
        // The first of January 1970 was a Thursday; weeks from Monday on.
        let weeks = ordered(&retention("1d", &["week:forever"]), &log, &mut given, 24 * HOUR * 61);
        assert_eq!(weeks[..2], [vec![(0, 4)], vec![(4, 11)]]);
        // The week from 26 January to 1 February stays as it is; the others of January are one sum.
        let months = ordered(&retention("1d", &["month:forever"]), &log, &mut given, 24 * HOUR * 70);
        assert_eq!(months[0], [(0, 25)]);
        let all = RollUps::of(&given);
        assert_eq!(all.at(25), all.at(31));
        assert_eq!(all.at(25).unwrap().windows, 7);
    }

    #[test]
    fn levels_that_cannot_be_are_refused() {
        for (age, levels) in [
            ("90d", &[][..]),
            ("90d", &["day:2y"]),
            ("90d", &["day:30d", "month:forever"]),
            ("90d", &["day:forever", "month:forever"]),
        ] {
            let levels = levels.iter().map(|level| level.parse().unwrap()).collect();
            assert!(Retention::new("level", age.parse().unwrap(), levels).is_err(), "{age}");
        }
        for level in ["day", "minute:2y", "day:never", "day:", ":2y", "day:-2d", "day:0y"] {
            assert!(level.parse::<RollUpLevel>().is_err(), "{level}");
        }
    }
}
