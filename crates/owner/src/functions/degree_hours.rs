//! `degree_hours(x, below 18)`, `degree_hours(x, above 24)`: how far readings are beyond a limit, times the period in hours.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::arguments::{About, Arguments};
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::side::Side;
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, Readings};
use crate::language::{Measurand, Name, Number};
use crate::value::{Value, ValueError, product};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "degree_hours", arguments: "x, below 18" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let channel = parser.channel()?;
        parser
            .expect(',', "',' and a limit, as in degree_hours(x, below 18) or degree_hours(x, above 24)")?;
        let side = Side::read(parser, "below or above, as in degree_hours(x, below 18)")?;
        let limit = parser.number("a number, as in degree_hours(x, below 18)")?;
        parser.close()?;
        Ok(DegreeHours(BeyondLimit { channel, side, limit }).into())
    },
};

/// `degree_hours(x, below 18)`: Σ max(18 − x, 0) · period, with the period in hours.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DegreeHours(pub(super) BeyondLimit);

/// A channel, and a limit with the side on which readings count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BeyondLimit {
    channel: String,
    side: Side,
    limit: f64,
}

impl BeyondLimit {
    /// Returns how far a value is beyond the limit, at least 0.
    fn beyond(&self, value: f64) -> f64 {
        self.side.beyond(self.limit, value)
    }

    fn sum(&self, readings: &Readings, unit: &str) -> Result<Value, ValueError> {
        let (mut value, mut bound, mut count) = (0.0, 0.0, 0u64);
        for (rounded, of_window) in readings.by_window() {
            let mut off = Vec::new();
            for reading in of_window {
                let (x, error, hours) = (reading.value(), reading.error(), reading.hours());
                let beyond = self.beyond(x);
                // The value that the device got may be further beyond by `error` at most, and not at all.
                let most = self.beyond(x - error).max(self.beyond(x + error));
                value += beyond * hours;
                off.push((most - beyond).max(beyond.min(error)) * hours);
                count += 1;
            }
            // The window counts the rounded readings, and does not say which they are.
            off.sort_by(|one, other| other.total_cmp(one));
            bound += off.iter().take(usize::try_from(rounded).unwrap_or(usize::MAX)).sum::<f64>();
        }
        if count == 0 {
            return Err(ValueError::NO_READING);
        }
        // The rounding of the sum in f64.
        let rounding = if bound > 0.0 { 2.0 * f64::EPSILON * count as f64 * value.abs() } else { 0.0 };
        Ok(Value { value, bound: bound + rounding, unit: product(unit, "h") })
    }
}

impl Display for BeyondLimit {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {} {}", Name(&self.channel), self.side.word(), Number(self.limit))
    }
}

impl Arguments for BeyondLimit {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.channel])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Call {
    /// Returns the call `degree_hours(x, below 18)`.
    #[must_use]
    pub fn degree_hours(channel: impl Into<String>, side: Side, limit: f64) -> Self {
        DegreeHours(BeyondLimit { channel: channel.into(), side, limit }).into()
    }
}

impl Function for DegreeHours {
    fn name(&self) -> &'static str {
        "degree_hours"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        let (low, high) = of.ends(&self.0.channel)?;
        let never = self.0.beyond(low).max(self.0.beyond(high)) == 0.0;
        never.then(|| {
            let range = of.range_in_words(&self.0.channel);
            format!(
                "{} is never {} {}: it is declared {range}. Take another limit, or widen its range",
                self.0.channel,
                self.0.side.word(),
                self.0.limit
            )
        })
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::readings(&self.0.channel)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("compare the mean, as in mean(x) < 18")
    }
}

impl OneValue for DegreeHours {
    fn unit(&self, channels: &dyn Channels) -> String {
        product(&channels.unit(&self.0.channel), "h")
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let unit = from.unit(&self.0.channel);
        from.of_readings(&self.0.channel, |readings| self.0.sum(readings, &unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gathered::{Run, minutes};

    #[test]
    fn readings_on_one_side_of_the_limit_count_by_their_distance() {
        // 15.5, 18.25 and 20, off by 0.25, for a minute each; one is missing.
        let mut readings = Readings::default();
        readings.add("a", minutes(0, &[Some(15.5), None, Some(18.0)]));
        readings.add("b", minutes(0, &[Some(20.0)]));
        let sum = |side, limit| {
            let of = BeyondLimit { channel: "x".to_owned(), side, limit };
            let Value { value, bound, unit } = of.sum(&readings, "°C").expect("readings");
            (value * 60.0, bound * 60.0, unit)
        };
        let (value, bound, unit) = sum(Side::Below, 18.0);
        // 18.0 may be 17.75, and 15.5 be off by 0.25.
        assert!((value - 2.5).abs() < 1e-9 && (bound - 0.5).abs() < 1e-9, "{value} {bound}");
        assert_eq!(unit, "°C·h");
        let (value, bound, _) = sum(Side::Above, 17.0);
        assert!((value - 4.0).abs() < 1e-9 && (bound - 0.5).abs() < 1e-9, "{value} {bound}");
        let one = Run { rounded: 1, ..minutes(0, &[Some(15.5), Some(16.0), Some(30.0)]) };
        let mut readings = Readings::default();
        readings.add("a", one);
        let of = BeyondLimit { channel: "x".to_owned(), side: Side::Below, limit: 18.0 };
        let bound = of.sum(&readings, "°C").expect("readings").bound * 60.0;
        assert!((bound - 0.25).abs() < 1e-9, "one of them was rounded: {bound}");
        let none = BeyondLimit { channel: "x".to_owned(), side: Side::Below, limit: 1.0 };
        assert!(none.sum(&Readings::default(), "°C").is_err());
    }
}
