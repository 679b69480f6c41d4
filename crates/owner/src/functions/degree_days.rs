//! `degree_days(x, below 18)`: how far the means of a group's days lie below a base, or above it, summed.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::arguments::{About, Arguments};
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::side::Side;
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, DayMean, Gathered, Need};
use crate::language::{Measurand, Name, Number};
use crate::units::Scale;
use crate::value::{Value, ValueError, product};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "degree_days", arguments: "x, below 18" }],
    synonyms: &["degree_day"],
    across_groups: false,
    read: |parser, _| {
        let expected = "',' and a base, as in degree_days(x, below 18) or degree_days(x, above 24)";
        let channel = parser.channel()?;
        parser.expect(',', expected)?;
        let side = Side::read(parser, "below or above, as in degree_days(x, below 18)")?;
        let base = parser.number("a number, as in degree_days(x, below 18)")?;
        parser.close()?;
        Ok(DegreeDays(Degrees { channel, side, base }).into())
    },
};

/// `degree_days(x, below 18)`: Σ over the days of the group of max(18 − mean of the day, 0).
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DegreeDays(pub(super) Degrees);

/// A channel, and the side of a base on which its daily means count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Degrees {
    channel: String,
    side: Side,
    base: f64,
}

impl Call {
    /// Returns the call `degree_days(x, below base)`, as for heating.
    #[must_use]
    pub fn degree_days_below(channel: impl Into<String>, base: f64) -> Self {
        DegreeDays(Degrees { channel: channel.into(), side: Side::Below, base }).into()
    }

    /// Returns the call `degree_days(x, above base)`, as for cooling.
    #[must_use]
    pub fn degree_days_above(channel: impl Into<String>, base: f64) -> Self {
        DegreeDays(Degrees { channel: channel.into(), side: Side::Above, base }).into()
    }
}

impl Display for Degrees {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {} {}", Name(&self.channel), self.side.word(), Number(self.base))
    }
}

impl Arguments for Degrees {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.channel])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Degrees {
    /// Returns the degrees of a day with this mean. They are off by no more than the mean.
    fn of_day(&self, mean: &Value) -> Value {
        let (low, high) = mean.ends();
        let of = |mean: f64| self.side.beyond(self.base, mean);
        let value = of(mean.value);
        let bound = (of(low) - value).abs().max((of(high) - value).abs());
        Value { value, bound, unit: String::new() }
    }

    /// Returns the sum over days, and the number of those that count.
    fn of_days(&self, days: &[DayMean], unit: &str) -> Result<Value, ValueError> {
        let mut sum: Option<Value> = None;
        for day in days.iter().filter(|day| day.is_covered()) {
            let of_day = self.of_day(&day.mean);
            sum = Some(match sum {
                None => of_day,
                Some(sum) => sum.plus(&of_day)?,
            });
        }
        let sum = sum.ok_or(match days.is_empty() {
            true => ValueError::NO_READING,
            false => ValueError::Undetermined("no day has three quarters of its readings"),
        })?;
        Ok(Value { unit: product(unit, "d"), ..sum })
    }
}

impl Function for DegreeDays {
    fn name(&self) -> &'static str {
        "degree_days"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        let (low, high) = of.ends(&self.0.channel)?;
        let never = match self.0.side {
            Side::Below => low >= self.0.base,
            Side::Above => high <= self.0.base,
        };
        never.then(|| {
            let range = of.range_in_words(&self.0.channel);
            format!(
                "{} is declared {range}: its degree days are always 0. Take another base, or widen its range",
                self.0.channel
            )
        })
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::moments(&self.0.channel)]
    }

    fn needs_days(&self) -> bool {
        true
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("take mean(x)")
    }
}

impl OneValue for DegreeDays {
    fn unit(&self, channels: &dyn Channels) -> String {
        product(&channels.unit(&self.0.channel), "d")
    }

    fn scale(&self) -> Scale {
        Scale::Difference
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let channel = &self.0.channel;
        from.of_moments(channel, |_| self.0.of_days(from.days(channel), &from.unit(channel)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(mean: f64, bound: f64, present: u64) -> DayMean {
        let mean = Value { value: mean, bound, unit: "°C".to_owned() };
        DayMean { from: 0, mean, present, expected: 24 }
    }

    #[test]
    fn days_add_up_and_those_with_few_readings_are_left_out() {
        let below = Degrees { channel: "x".into(), side: Side::Below, base: 18.0 };
        let days = [
            day(10.0, 0.0, 24),
            day(20.0, 0.0, 24),
            day(-2.5, 0.05, 18),
            day(0.0, 0.0, 17),
            day(17.98, 0.05, 24),
        ];
        let found = below.of_days(&days, "°C").expect("days");
        assert!((found.value - 28.52).abs() < 1e-9 && found.unit == "°C·d", "{found:?}");
        assert!((found.bound - 0.1).abs() < 1e-9, "{found:?}");
        let above = Degrees { side: Side::Above, ..below.clone() };
        assert_eq!(
            above.of_days(&days, "°C").map(|found| found.value),
            Ok(2.0 + (17.98_f64 - 18.0).max(0.0))
        );
        assert_eq!(below.of_days(&[], "°C"), Err(ValueError::NO_READING));
        assert!(below.of_days(&days[3..4], "°C").unwrap_err().to_string().contains("three quarters"));
    }
}
