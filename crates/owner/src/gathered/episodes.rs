//! Episodes: times without a break during which a condition holds.

use std::collections::BTreeMap;

use sotto_pack::Period;

use super::Readings;
use crate::language::Condition;

const HOUR: f64 = 3_600_000.0;

/// The episodes of a group, over all devices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Episodes {
    pub(crate) number: u64,
    /// The longest of them, in milliseconds. A reading stands for one period.
    longest: f64,
    /// Number of missing ticks between readings for which the condition holds. They end an episode.
    pub(crate) missing: u64,
}

impl Episodes {
    /// Returns the episodes of readings, device by device.
    pub(crate) fn of(readings: &Readings, condition: &Condition) -> Self {
        let mut all = Self::default();
        for device in readings.by_device() {
            let mut before = None;
            // Ticks by period.
            let mut lasting = BTreeMap::<Period, u64>::new();
            for reading in &device.readings {
                let holds = reading.holds(condition);
                if holds {
                    let gap =
                        before.map(|(before, held)| (held, super::Reading::missing_before(before, reading)));
                    if !matches!(gap, Some((true, Some(0)))) {
                        all.number += 1;
                        lasting.clear();
                    }
                    if let Some((true, Some(missing))) = gap {
                        all.missing += missing;
                    }
                    *lasting.entry(reading.period()).or_default() += 1;
                    let time = lasting.iter().map(|(period, ticks)| period.milliseconds_of(*ticks)).sum();
                    all.longest = all.longest.max(time);
                }
                before = Some((reading, holds));
            }
        }
        all
    }

    /// Returns the hours of the longest one.
    pub(crate) fn longest_hours(&self) -> f64 {
        self.longest / HOUR
    }
}

#[cfg(test)]
mod tests {
    use super::super::readings::tests::run;
    use super::*;
    use crate::language::Comparison;

    fn of(runs: &[(&str, i64, &[Option<f64>])]) -> Episodes {
        let mut readings = Readings::default();
        runs.iter().for_each(|(device, start, values)| readings.add(device, run(*start, values)));
        Episodes::of(&readings, &Condition::new("x", Comparison::Greater, 80.0))
    }

    const HOT: Option<f64> = Some(81.0);
    const COLD: Option<f64> = Some(80.0);

    #[test]
    fn a_missing_tick_ends_an_episode() {
        let found = of(&[("a", 0, &[HOT, HOT, None, HOT, COLD, HOT, None, COLD, HOT])]);
        assert_eq!((found.number, found.longest, found.missing), (4, 120_000.0, 1));
        let found = of(&[("a", 0, &[COLD, COLD])]);
        assert_eq!((found.number, found.longest, found.missing), (0, 0.0, 0));
    }

    #[test]
    fn an_episode_goes_on_in_the_next_window_of_a_group_and_not_in_another_device() {
        let mut readings = Readings::default();
        let time = (0, 600_000);
        for (device, start) in [("a", 0), ("a", 120_000), ("b", 240_000)] {
            readings.add(device, super::super::Run { time, ..run(start, &[HOT, HOT]) });
        }
        // A late reading of the fifth minute.
        readings.add("b", super::super::Run { time, ..run(0, &[None, None, None, None, None, None, HOT]) });
        let found = Episodes::of(&readings, &Condition::new("x", Comparison::Greater, 80.0));
        assert_eq!((found.number, found.longest, found.missing), (2, 240_000.0, 0));
        assert!((found.longest_hours() - 4.0 / 60.0).abs() < 1e-12);
    }

    /// Ticks that are not asked for are none that are missing.
    #[test]
    fn times_apart_end_an_episode_without_a_missing_tick() {
        let found = of(&[("a", 0, &[HOT]), ("a", 600_000, &[HOT])]);
        assert_eq!((found.number, found.longest, found.missing), (2, 60_000.0, 0));
        let found = of(&[("a", 0, &[HOT]), ("a", 60_000, &[HOT])]);
        assert_eq!(
            (found.number, found.longest, found.missing),
            (1, 120_000.0, 0),
            "one ends where the other begins"
        );
    }
}
