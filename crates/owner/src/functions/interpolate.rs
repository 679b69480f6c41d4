//! `interpolate(x)`, `interpolate(x, 2h)`: the value at every tick, on straight lines over gaps.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::Call;
use super::arguments::{About, Arguments};
use super::function::{Function, Gaps, InAlarm, Named, Part, SeveralValues, Syntax, Time, Yields};
use crate::gathered::{Counted, Gathered, Line, Need, OnLines, Readings};
use crate::language::{Duration, Measurand, Name};
use crate::value::{Value, ValueError};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "interpolate", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let channel = parser.channel()?;
        if !parser.accept(',')? {
            parser.close_after_name()?;
            return Ok(Interpolate(OverGaps { channel, longest: None }).into());
        }
        let longest = Some(parser.duration()?);
        parser.close()?;
        Ok(Interpolate(OverGaps { channel, longest }).into())
    },
};

/// Largest number of values of a row's time and device.
const MOST_VALUES: u64 = 100_000;

/// `interpolate(x)`: the value at every tick between the first and the last reading, on a straight line where there is none.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interpolate(pub(super) OverGaps);

/// A channel, and the longest gap over which lines go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OverGaps {
    channel: String,
    /// The longest time between two readings. None: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    longest: Option<Duration>,
}

impl OverGaps {
    fn longest(&self) -> i64 {
        self.longest.map_or(i64::MAX, |longest| i64::try_from(1000 * longest.seconds()).unwrap_or(i64::MAX))
    }
}

impl Display for OverGaps {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        Name(&self.channel).fmt(out)?;
        self.longest.iter().try_for_each(|longest| write!(out, ", {longest}"))
    }
}

impl Arguments for OverGaps {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.channel])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Call {
    /// Returns the call `interpolate(x)`, or `interpolate(x, 2h)` with the longest time between two readings of a line.
    #[must_use]
    pub fn interpolate(channel: impl Into<String>, longest: Option<Duration>) -> Self {
        Interpolate(OverGaps { channel: channel.into(), longest }).into()
    }
}

impl Function for Interpolate {
    fn name(&self) -> &'static str {
        "interpolate"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::readings(&self.0.channel)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::Several(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("write x > 80: an alarm looks at each reading as it comes")
    }

    fn gaps(&self, from: &Gathered<'_>) -> Option<Gaps> {
        let ticks = OnLines::of(&from.readings(), self.0.longest()).ok()?.between;
        Some(Gaps { ticks, words: "between readings: the values there lie on straight lines" })
    }
}

impl SeveralValues for Interpolate {
    fn values(&self, from: &Gathered<'_>) -> Vec<Part> {
        let (readings, unit) = (from.readings(), from.unit(&self.0.channel));
        let failed = |value| {
            let counted = Counted { value: Err(value), count: readings.count(), missing: 0 };
            vec![Part { counted, ..part(String::new(), unit.clone()) }]
        };
        let lines = match self.lines(&readings) {
            Ok(lines) => lines,
            Err(error) => return failed(error),
        };
        let each = lines.values.into_iter().enumerate().map(|(index, line)| {
            let Line { at, until, value, bound, is_between, .. } = line;
            let value = Ok(Value { value, bound, unit: unit.clone() });
            let count = u64::from(!is_between);
            Part {
                counted: Counted { value, count, missing: u64::from(is_between) },
                time: Some(Time { from: at, to: until }),
                interpolated: is_between,
                ..part(format!("[{index}]"), unit.clone())
            }
        });
        each.collect()
    }

    fn instead(&self) -> String {
        ", or take the mean of the readings: mean(x)".to_owned()
    }
}

impl Interpolate {
    fn lines(&self, readings: &Readings) -> Result<OnLines, ValueError> {
        let lines = OnLines::of(readings, self.0.longest())?;
        if lines.values.len() as u64 > MOST_VALUES {
            return Err(ValueError::Undetermined(
                "there are more than 100,000 values: ask for a shorter time, or for means by hour",
            ));
        }
        Ok(lines)
    }
}

fn part(name: String, unit: String) -> Part {
    Part { name, counted: Counted::nothing(), unit, bin: None, time: None, interpolated: false }
}
