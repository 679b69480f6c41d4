//! What lies between the windows of a device: from the last reading of one to the first of the next.

use crate::gathered::{Between, Crossing, Ends, NeedId, Tally};

/// Notes in the tallies of a device's groups, in order of time, what lies between its windows.
///
/// What lies between readings of neighbouring ticks belongs to the later one. Over ticks without readings it belongs to the
/// gap: if that crosses the end of a group, each group that it touches may have all of it, or nothing.
pub(super) fn note_crossings(tallies: &mut [Tally], need: NeedId) {
    let ends = |(group, tally): (usize, &Tally)| {
        let all = tally.windows.get(&need)?.of_device().map(|held| held.ends);
        Some(all.flatten().map(move |ends| (group, ends)).collect::<Vec<(usize, Ends)>>())
    };
    let mut all: Vec<(usize, Ends)> = tallies.iter().enumerate().filter_map(ends).flatten().collect();
    all.sort_by_key(|(group, ends)| (ends.first_at, *group));
    for pair in all.windows(2) {
        let [(earlier, before), (later, next)] = [pair[0], pair[1]];
        if next.first_at <= before.last_at {
            for group in [earlier, later] {
                tallies[group].windows.entry(need).or_default().note_interleaved();
            }
            continue;
        }
        let crossing = before.crossing(&next);
        if earlier == later || before.ticks_to(&next) == 1 {
            tallies[later].windows.entry(need).or_default().add_crossing(crossing);
            continue;
        }
        let perhaps = |of: Between| Between { low: 0.0_f64.min(of.low), ..of };
        let crossing = Crossing { increase: perhaps(crossing.increase), changes: perhaps(crossing.changes) };
        for tally in &mut tallies[earlier.min(later)..=later.max(earlier)] {
            tally.windows.entry(need).or_default().add_crossing(crossing);
        }
    }
}
