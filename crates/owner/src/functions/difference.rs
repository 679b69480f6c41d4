//! The difference of two channels at each tick at which both have a reading.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::Circumstances;
use super::arguments::{About, Arguments};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::language::{Measurand, Name};
use crate::value::{Value, ValueError, common};

/// Two channels of one device, the second of which is taken from the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Difference {
    pub(super) x: String,
    pub(super) y: String,
}

impl Display for Difference {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} - {}", Name(&self.x), Name(&self.y))
    }
}

impl Arguments for Difference {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.x, &self.y])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Difference {
    pub(super) fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        if self.x == self.y {
            return Some(format!("{self} is always 0: name two channels"));
        }
        let error = common(&of.channels.unit(&self.x), &of.channels.unit(&self.y)).err()?;
        Some(format!("{self}: {error}. Name two channels of one unit"))
    }

    pub(super) fn needs(&self) -> Vec<Need> {
        vec![Need::readings(&self.x), Need::readings(&self.y)]
    }

    pub(super) fn unit(&self, channels: &dyn Channels) -> String {
        common(&channels.unit(&self.x), &channels.unit(&self.y)).unwrap_or_default()
    }

    /// Returns the smallest and the largest difference in a window with readings; None if they are not known.
    pub(super) fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        let ((x_low, x_high), (y_low, y_high)) = of.ends(&self.x).zip(of.ends(&self.y))?;
        Some((x_low - y_high, x_high - y_low))
    }

    /// Returns the extreme of the differences: that of which `beats` is true against every other.
    pub(super) fn extreme(&self, from: &Gathered<'_>, beats: fn(f64, f64) -> bool) -> Counted {
        let (of_x, of_y) = (from.readings_at(0), from.readings_at(1));
        let (mut best, mut error, mut count): (Option<f64>, f64, u64) = (None, 0.0, 0);
        for x in of_x.by_device() {
            let Some(y) = of_y.by_device().find(|y| y.device == x.device) else { continue };
            let mut later = y.readings.iter().peekable();
            for x in &x.readings {
                while later.next_if(|y| y.at < x.at).is_some() {}
                let Some(y) = later.next_if(|y| y.at == x.at) else { continue };
                let difference = x.value() - y.value();
                best = best.filter(|best| !beats(difference, *best)).or(Some(difference));
                error = error.max(x.error() + y.error());
                count += 1;
            }
        }
        let unit = common(&from.unit(&self.x), &from.unit(&self.y));
        let value = unit.and_then(|unit| {
            let value = best.ok_or(ValueError::NO_READING)?;
            // Each reading is the f64 nearest to a decimal number; their difference is rounded once more.
            Ok(Value { value, bound: error, unit })
        });
        Counted { value, count, missing: from.missing(&[&self.x, &self.y], count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gathered::{Needed, Readings, Tally, minutes};

    struct Degrees;

    impl Channels for Degrees {
        fn unit(&self, _: &str) -> String {
            "°C".to_owned()
        }
    }

    #[test]
    fn only_common_ticks_of_one_device_count() {
        let difference = Difference { x: "a".to_owned(), y: "b".to_owned() };
        let needs = Needed::default().numbers(difference.needs());
        let mut tally = Tally::default();
        let mut add = |at: usize, device: &str, start: i64, values: &[Option<f64>]| {
            let readings: &mut Readings = tally.readings.entry(needs[at]).or_default();
            readings.add(device, minutes(start, values));
        };
        // The windows of b begin a tick later.
        add(0, "one", 0, &[Some(90.0), Some(10.0), None, Some(30.0), Some(20.0)]);
        add(1, "one", 60_000, &[Some(4.0), Some(0.0), Some(11.5), None]);
        add(0, "two", 0, &[Some(7.0)]);
        add(1, "two", 0, &[Some(9.0)]);
        add(0, "three", 0, &[Some(99.0)]);
        let tallies = [tally];
        let from = Gathered::new(&tallies, &needs, &Degrees);
        let of = |beats| {
            let Counted { value, count, .. } = difference.extreme(&from, beats);
            let Value { value, bound, unit } = value.expect("a value");
            (value, bound, unit, count)
        };
        assert_eq!(of(|a, b| a > b), (18.5, 0.5, "°C".to_owned(), 3));
        assert_eq!(of(|a, b| a < b), (-2.0, 0.5, "°C".to_owned(), 3));
        let none = Gathered::new(&[], &needs, &Degrees);
        assert_eq!(difference.extreme(&none, |a, b| a > b).value, Err(ValueError::NO_READING));
    }

    /// Temperatures, but for `flow`.
    struct Two;

    impl Channels for Two {
        fn unit(&self, channel: &str) -> String {
            if channel == "flow" { "l/s".to_owned() } else { Degrees.unit(channel) }
        }
    }

    #[test]
    fn channels_of_two_units_have_no_difference() {
        let refused = |x: &str, y: &str| {
            let of = Circumstances { channels: &Two, is_new: false, longest: None };
            Difference { x: x.to_owned(), y: y.to_owned() }.cannot_work(&of)
        };
        assert_eq!(refused("inlet", "outlet"), None);
        assert!(refused("inlet", "inlet").is_some_and(|why| why.contains("always 0")));
        assert!(refused("inlet", "flow").is_some_and(|why| why.contains("their units differ")));
    }
}
