//! Devices in the order of a result: their places, and the order that bounds leave open.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::answer::Row;
use super::rank::{Next, Rank};
use crate::language::{RankedBy, Ranking};

/// Number of devices that a note names.
const NAMED: usize = 5;

/// The largest relative difference of values that differ in the last digits of a double alone.
const ROUNDING: f64 = 1e-13;

/// Returns the rows of the first devices of each group in order, and notes on devices that are left out and on open
/// places. `name` is the result that decides.
pub(super) fn ranked(ranking: Ranking, name: &str, rows: Vec<Row>) -> (Vec<Row>, Vec<String>) {
    let (mut all, mut facts) = (Vec::new(), Facts::default());
    let mut rows = rows.into_iter().peekable();
    while let Some(first) = rows.next() {
        let key = (first.from_ms, first.to_ms, first.recurs);
        let mut group = vec![first];
        while let Some(row) = rows.next_if(|row| in_group(row, key)) {
            group.push(row);
        }
        facts.groups += 1;
        all.extend(first_of(ranking, name, group, &mut facts));
    }
    (all, facts.notes(ranking))
}

type Key = (i64, i64, Option<crate::question::Recurs>);

/// Returns true for a row of the group, also for one of a part of it, as a value at a reading.
fn in_group(row: &Row, (from, to, recurs): Key) -> bool {
    row.recurs == recurs && row.from_ms >= from && row.to_ms <= to && row.from_ms < to
}

/// The facts of all groups that notes tell.
#[derive(Default)]
struct Facts {
    groups: usize,
    /// The number of groups in which a device has no value.
    without: BTreeMap<String, usize>,
    /// The number of groups whose last place is one of several devices that could have it.
    open: usize,
    kinds: BTreeSet<&'static str>,
}

/// Returns the rows of the first devices of one group, the first place first.
fn first_of(ranking: Ranking, name: &str, group: Vec<Row>, facts: &mut Facts) -> Vec<Row> {
    let mut by_device: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in group {
        by_device.entry(row.device.clone().unwrap_or_default()).or_default().push(row);
    }
    let mut devices: Vec<(f64, f64, Vec<Row>)> = Vec::with_capacity(by_device.len());
    for (device, rows) in by_device {
        let decides = rows.iter().find(|row| row.name == name);
        match decides.and_then(|row| row.value.zip(row.bound)) {
            Some((value, bound)) => devices.push((value, bound, rows)),
            None => *facts.without.entry(device).or_default() += 1,
        }
    }
    // Devices with equal values stay in the order of their names.
    devices.sort_by(|(one, ..), (other, ..)| match ranking.by {
        RankedBy::Largest => other.partial_cmp(one).unwrap_or(Ordering::Equal),
        RankedBy::Smallest => one.partial_cmp(other).unwrap_or(Ordering::Equal),
    });
    let most = ranking.devices as usize;
    let sign = if ranking.by == RankedBy::Largest { 1.0 } else { -1.0 };
    // For each device, how far forward one behind it may be.
    let mut reach = vec![f64::NEG_INFINITY; devices.len()];
    for at in (1..devices.len()).rev() {
        let (value, bound, _) = &devices[at];
        reach[at - 1] = reach[at].max(sign * value + bound);
    }
    let near = |at: usize| {
        let ((one, bound, _), (next, ..)) = (devices.get(at)?, devices.get(at + 1)?);
        match (one - next).abs() {
            apart if apart <= ROUNDING * one.abs() => Some(Next::Equal),
            _ if sign * one - bound <= reach[at] => Some(Next::Overlaps),
            _ => None,
        }
    };
    let mut ranks: Vec<Rank> = Vec::new();
    for at in 0..devices.len().min(most) {
        let is_shared = at > 0 && near(at - 1) == Some(Next::Equal);
        let place = if is_shared { ranks[at - 1].place } else { at as u32 + 1 };
        ranks.push(Rank { place, next: near(at) });
    }
    facts.open += usize::from(ranks.len() == most && ranks.last().is_some_and(|last| last.next.is_some()));
    facts.kinds.extend(ranks.iter().filter_map(|rank| rank.next).map(|next| match next {
        Next::Equal => "=",
        Next::Overlaps => "~",
    }));
    let placed = devices.into_iter().zip(ranks);
    placed
        .flat_map(|((.., rows), rank)| rows.into_iter().map(move |row| Row { rank: Some(rank), ..row }))
        .collect()
}

impl Facts {
    fn notes(self, ranking: Ranking) -> Vec<String> {
        let mut notes = Vec::new();
        let groups = |count: usize| match (count, self.groups) {
            (_, 1) => String::new(),
            (count, all) => format!(" in {count} of {all} groups"),
        };
        if self.kinds.contains("=") {
            notes.push(
                "= behind a place: the value is equal to that of the device next in the order".to_owned(),
            );
        }
        if self.kinds.contains("~") {
            notes.push(
                "~ behind a place: its bounds overlap with those of a device behind it, and the order of the two is open"
                    .to_owned(),
            );
        }
        if self.open > 0 {
            notes.push(format!(
                "place {} is open{}: a device that is not shown may have it; ask for more devices to see",
                ranking.devices,
                groups(self.open)
            ));
        }
        if !self.without.is_empty() {
            let named: Vec<String> = self
                .without
                .iter()
                .take(NAMED)
                .map(|(device, count)| format!("{device}{}", groups(*count)))
                .collect();
            let more = match self.without.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            notes.push(format!("without a value, and in no place: {}{more}", named.join(", ")));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::Assurance;

    fn row(device: &str, name: &str, of: Option<(f64, f64)>, from_ms: i64) -> Row {
        Row {
            from: String::new(),
            to: String::new(),
            device: Some(device.to_owned()),
            tag: None,
            rank: None,
            name: name.to_owned(),
            value: of.map(|(value, _)| value),
            bound: of.map(|(_, bound)| bound),
            unit: String::new(),
            count: 1,
            missing: 0,
            assurance: Assurance::Authenticated,
            held_back: false,
            why: None,
            bin: None,
            recurs: None,
            at: None,
            interpolated: false,
            at_ms: None,
            from_ms,
            to_ms: from_ms + 10,
        }
    }

    fn places(rows: &[Row]) -> Vec<(&str, u32, Option<Next>)> {
        let place = |row: &Row| row.rank.map(|rank| (rank.place, rank.next));
        rows.iter()
            .filter_map(|row| place(row).map(|(at, next)| (row.device.as_deref().unwrap_or(""), at, next)))
            .collect()
    }

    #[test]
    fn equal_values_share_a_place_and_open_orders_are_marked() {
        let group: Vec<Row> = [
            ("a", Some((1.0, 0.1))),
            ("b", Some((5.0, 0.0))),
            ("c", Some((3.0, 0.1))),
            ("d", Some((3.15, 0.1))),
            ("e", Some((5.0 - 1e-15, 0.0))),
            ("f", None),
        ]
        .into_iter()
        .map(|(device, of)| row(device, "max(x)", of, 0))
        .collect();
        let top = |devices| Ranking { by: RankedBy::Largest, devices };
        let (rows, notes) = ranked(top(4), "max(x)", group.clone());
        let expected =
            [("b", 1, Some(Next::Equal)), ("e", 1, None), ("d", 3, Some(Next::Overlaps)), ("c", 4, None)];
        assert_eq!(places(&rows), expected);
        assert!(notes.last().is_some_and(|note| note.ends_with("in no place: f")), "{notes:?}");
        assert!(!notes.iter().any(|note| note.contains("is open:")), "{notes:?}");
        let (rows, notes) = ranked(top(3), "max(x)", group.clone());
        assert_eq!(places(&rows), expected[..3], "the order with a device that is not shown is open, too");
        assert!(notes.iter().any(|note| note.starts_with("place 3 is open:")), "{notes:?}");
        let bottom = Ranking { by: RankedBy::Smallest, devices: 2 };
        let (rows, _) = ranked(bottom, "max(x)", group);
        assert_eq!(places(&rows), [("a", 1, None), ("c", 2, Some(Next::Overlaps))]);
    }

    #[test]
    fn any_device_behind_may_have_the_place() {
        let group: Vec<Row> = [("a", 10.0, 0.1), ("b", 9.5, 0.1), ("c", 9.0, 2.0), ("d", 1.0, 0.1)]
            .into_iter()
            .map(|(device, value, bound)| row(device, "max(x)", Some((value, bound)), 0))
            .collect();
        let top = |devices| Ranking { by: RankedBy::Largest, devices };
        let open = |notes: &[String], place: u32| {
            notes.iter().any(|note| note.starts_with(&format!("place {place} is open:")))
        };
        let (rows, notes) = ranked(top(1), "max(x)", group.clone());
        assert_eq!(places(&rows), [("a", 1, Some(Next::Overlaps))]);
        assert!(open(&notes, 1), "{notes:?}");
        let (rows, notes) = ranked(top(3), "max(x)", group.clone());
        let both = [("a", 1, Some(Next::Overlaps)), ("b", 2, Some(Next::Overlaps)), ("c", 3, None)];
        assert_eq!(places(&rows), both);
        assert!(!open(&notes, 3), "{notes:?}");
        // The same from the other end.
        let turned: Vec<Row> =
            group.into_iter().map(|row| Row { value: row.value.map(|value| -value), ..row }).collect();
        let (rows, _) = ranked(Ranking { by: RankedBy::Smallest, devices: 3 }, "max(x)", turned);
        assert_eq!(places(&rows), both);
    }

    #[test]
    fn each_group_has_its_own_order_and_other_results_stand_beside() {
        let of = |device, value, from| row(device, "max(x)", Some((value, 0.0)), from);
        let beside = |device, value, from| row(device, "mean(x)", Some((value, 0.0)), from);
        let rows = vec![
            of("a", 1.0, 0),
            beside("a", 9.0, 0),
            of("b", 2.0, 0),
            beside("b", 8.0, 0),
            of("a", 4.0, 10),
            beside("a", 7.0, 10),
            of("b", 3.0, 10),
            beside("b", 6.0, 10),
        ];
        let (rows, notes) = ranked(Ranking { by: RankedBy::Largest, devices: 1 }, "max(x)", rows);
        let told: Vec<_> = rows.iter().map(|row| (row.device.as_deref(), row.value, row.from_ms)).collect();
        assert_eq!(
            told,
            [
                (Some("b"), Some(2.0), 0),
                (Some("b"), Some(8.0), 0),
                (Some("a"), Some(4.0), 10),
                (Some("a"), Some(7.0), 10)
            ]
        );
        assert_eq!(notes, Vec::<String>::new());
    }
}
