//! What lies between the windows of a device: from the last reading of one to the first of the next.

use crate::gathered::{Between, Crossing, Ends, NeedId, Tally};

/// Notes in the tallies of a device's groups, in order of time, what lies between its windows.
///
/// What lies between readings of neighbouring ticks belongs to the later one. Over ticks without readings it belongs to the
/// gap: if that crosses the end of a group, each group that it touches may have all of it, or nothing.
pub(crate) fn note_crossings(tallies: &mut [Tally], need: NeedId) {
    let ends = |(group, tally): (usize, &Tally)| {
        let all = tally.windows.get(&need)?.of_device().map(|held| held.ends);
        Some(all.flatten().map(move |ends| (group, ends)).collect::<Vec<(usize, Ends)>>())
    };
    let mut all: Vec<(usize, Ends)> = tallies.iter().enumerate().filter_map(ends).flatten().collect();
    all.sort_by_key(|(group, ends)| (ends.first_at, *group));
    let untagged: Vec<bool> = tallies.iter().map(|tally| tally.untagged.contains(&need)).collect();
    for pair in all.windows(2) {
        let [(earlier, before), (later, next)] = [pair[0], pair[1]];
        // What lies between is no surer than either side.
        let touched = earlier.min(later)..=later.max(earlier);
        if untagged[earlier] || untagged[later] {
            tallies[touched.clone()].iter_mut().for_each(|tally| {
                tally.untagged.insert(need);
            });
        }
        if next.first_at <= before.last_at {
            for group in [earlier, later] {
                tallies[group].windows.entry(need).or_default().note_interleaved();
            }
            continue;
        }
        let is_next = before.ticks_to(&next) == 1;
        let groups = (earlier.min(later), earlier.max(later));
        let crossing = Crossing { groups, is_next, ..before.crossing(&next) };
        if earlier == later || is_next {
            tallies[later].windows.entry(need).or_default().add_crossing(crossing);
            continue;
        }
        let perhaps = |of: Between| Between { low: 0.0_f64.min(of.low), ..of };
        let (increase, changes) = (perhaps(crossing.increase), perhaps(crossing.changes));
        let crossing = Crossing { increase, changes, ..crossing };
        for tally in &mut tallies[touched] {
            tally.windows.entry(need).or_default().add_crossing(crossing);
        }
    }
}

#[cfg(test)]
mod tests {
    use sotto_pack::{Counter, Increase, Quantiser};

    use super::*;
    use crate::gathered::{Held, Need, Needed, WindowQuantity};
    use sotto_pack::Period;

    const PERIOD: i64 = 60_000;

    /// A window of a counter from 0 to 1,000, by the ticks and values of its first and last reading.
    fn held(first: (i64, f64), last: (i64, f64)) -> Held {
        let quantiser = Quantiser::with_resolution(0.0, 1000.0, 1.0).expect("a range");
        let q = |value: f64| quantiser.quantise(value).expect("in range");
        let ends = Ends {
            first_at: first.0 * PERIOD,
            last_at: last.0 * PERIOD,
            first: q(first.1),
            last: q(last.1),
            period: Period::from_milliseconds(PERIOD as u32),
            quantiser,
            error: quantiser.value_error(),
            rule: Increase::new(&Counter::default(), &quantiser),
        };
        let exactly = |quantity, value| (quantity, Between::exactly(value));
        let values = vec![
            exactly(WindowQuantity::Increase, last.1 - first.1),
            exactly(WindowQuantity::Doubt, 0.0),
            exactly(WindowQuantity::Falls, 0.0),
            exactly(WindowQuantity::Changes, 1.0),
        ];
        let (from, to) = (ends.first_at, ends.last_at + PERIOD);
        Held { from, to, readings: 2, values, ends: Some(ends), shape: None }
    }

    /// Returns value and bound, without rounding to the resolution, of the increase and the changes of each group.
    fn increases(groups: &[&[Held]]) -> Vec<Option<[f64; 4]>> {
        let need = Needed::default().numbers(vec![Need::windows("x", &[WindowQuantity::First])])[0];
        let mut tallies = vec![Tally::default(); groups.len()];
        for (tally, windows) in tallies.iter_mut().zip(groups) {
            windows.iter().for_each(|held| tally.windows.entry(need).or_default().add(held.clone()));
        }
        note_crossings(&mut tallies, need);
        let of = |tally: &Tally| {
            let windows = tally.windows.get(&need)?;
            let (increase, changes) = (windows.increase("").ok()?, windows.changes().ok()?);
            Some([increase.value, increase.bound.floor(), changes.value, (changes.bound * 2.0).round() / 2.0])
        };
        tallies.iter().map(of).collect()
    }

    #[test]
    fn what_lies_between_neighbouring_ticks_belongs_to_the_later_group() {
        let (day, next) = (held((0, 10.0), (9, 20.0)), held((10, 25.0), (19, 30.0)));
        let found = increases(&[std::slice::from_ref(&day), std::slice::from_ref(&next)]);
        // Of 20 to 25 to 30, the first and the last reading are rounded.
        assert_eq!(found, [Some([10.0, 1.0, 1.0, 0.0]), Some([10.0, 1.0, 2.0, 0.0])]);
        // It began again at 0.
        let after = held((20, 7.0), (29, 8.0));
        let found = increases(&[&[day, next, after]]);
        assert_eq!(found, [Some([28.0, 2.0, 5.0, 0.0])]);
    }

    #[test]
    fn the_bound_does_not_depend_on_the_number_of_windows() {
        let whole = held((0, 10.0), (19, 30.0));
        let parts = [held((0, 10.0), (4, 12.0)), held((5, 13.0), (9, 20.0)), held((10, 25.0), (19, 30.0))];
        assert_eq!(increases(&[&[whole]]), [Some([20.0, 1.0, 1.0, 0.0])]);
        assert_eq!(increases(&[&parts]), [Some([20.0, 1.0, 5.0, 0.0])]);
    }

    #[test]
    fn a_group_without_rounded_readings_is_exact_but_for_the_reading_before_it() {
        let exact = |first, last| {
            let held = held(first, last);
            Held { ends: held.ends.map(|ends| Ends { error: 0.0, ..ends }), ..held }
        };
        let bounds = |groups: &[&[Held]]| -> Vec<f64> {
            let need = Needed::default().numbers(vec![Need::windows("x", &[WindowQuantity::First])])[0];
            let mut tallies = vec![Tally::default(); groups.len()];
            for (tally, windows) in tallies.iter_mut().zip(groups) {
                windows.iter().for_each(|held| tally.windows.entry(need).or_default().add(held.clone()));
            }
            note_crossings(&mut tallies, need);
            tallies.iter().map(|tally| tally.windows[&need].increase("").expect("windows").bound).collect()
        };
        let [day, next, after] =
            [exact((0, 10.0), (9, 20.0)), exact((10, 25.0), (19, 30.0)), exact((20, 7.0), (29, 8.0))];
        assert_eq!(bounds(&[&[day, next.clone(), after]]), [0.0], "a fall of exact readings, too");
        // The increase of a day begins at the last reading of the day before.
        let rounded = held((0, 10.0), (9, 20.0));
        let found = bounds(&[&[rounded], &[next]]);
        assert!(found.iter().all(|bound| (bound - 1.0).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn a_gap_inside_a_group_counts_there_and_one_over_its_end_is_open() {
        let (day, next) = (held((0, 10.0), (9, 20.0)), held((100, 60.0), (109, 60.0)));
        assert_eq!(increases(&[&[day.clone(), next.clone()]]), [Some([50.0, 1.0, 3.0, 0.0])]);
        let found = increases(&[std::slice::from_ref(&day), &[], &[next]]);
        // 10 to 50, no reading, 0 to 40.
        assert_eq!(found, [Some([30.0, 21.0, 1.5, 0.5]), None, Some([20.0, 21.0, 1.5, 0.5])]);
        let between = held((5, 12.0), (6, 13.0));
        assert_eq!(increases(&[&[day, between]]), [None], "interleaved");
    }

    #[test]
    fn what_lies_between_is_no_surer_than_either_side() {
        let need = Needed::default().numbers(vec![Need::windows("x", &[WindowQuantity::First])])[0];
        let windows =
            [held((0, 10.0), (9, 20.0)), held((10, 25.0), (19, 30.0)), held((20, 31.0), (29, 32.0))];
        let untagged = |sides: [bool; 3]| {
            let mut tallies = vec![Tally::default(); 3];
            for ((tally, held), is_untagged) in tallies.iter_mut().zip(&windows).zip(sides) {
                tally.windows.entry(need).or_default().add(held.clone());
                if is_untagged {
                    tally.untagged.insert(need);
                }
            }
            note_crossings(&mut tallies, need);
            tallies.iter().map(|tally| !tally.untagged.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(untagged([false; 3]), [false; 3]);
        assert_eq!(untagged([false, false, true]), [false, true, true]);
        assert_eq!(untagged([true, false, false]), [true, true, false], "but for the neighbour");
    }
}
