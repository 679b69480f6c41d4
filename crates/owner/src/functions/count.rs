//! `count(x)`: the number of readings; `count(x > 80)`, `count(60 <= x <= 79)`: of those for which a condition holds.

use serde::{Deserialize, Serialize};
use sotto_pack::ChannelKind;

use super::arguments::never_holds;
use super::function::{AddsUp, Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::language::{Condition, Measurand};
use crate::value::Value;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "count", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let (reading, condition) = parser.compared()?;
        match condition {
            None => {
                parser.close_after_name()?;
                Ok(Count(reading).into())
            }
            Some(condition) => {
                parser.close()?;
                Ok(CountWhere(condition).into())
            }
        }
    },
};

/// `count(x)`: the number of readings that are present.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count(pub(super) Measurand);

/// `count(x > 80)`, `count(60 <= x <= 79)`, `count(linear(model.json) > 80)`: the number of readings for which the condition holds.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountWhere(pub(super) Condition);

impl Call {
    /// Returns the call `count(x)`.
    #[must_use]
    pub fn count(reading: impl Into<Measurand>) -> Self {
        Count(reading.into()).into()
    }

    /// Returns the call `count(x > 80)`.
    #[must_use]
    pub fn count_where(condition: Condition) -> Self {
        CountWhere(condition).into()
    }
}

impl Function for Count {
    fn name(&self) -> &'static str {
        "count"
    }

    fn fits(&self, _: &ChannelKind) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::sums(&self.0)]
    }

    fn adds_up(&self) -> Option<AddsUp<'_>> {
        match &self.0 {
            Measurand::Channel(channel) => Some(AddsUp::One(channel)),
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => None,
        }
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    /// A window without readings has no row.
    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        let ticks = self.0.channels().into_iter().map(|channel| of.ticks(channel)).min().flatten();
        Some((1.0, ticks.map_or(f64::INFINITY, |ticks| ticks as f64)))
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }

    /// The number of values carries no noise, though they do.
    fn has_noise(&self) -> bool {
        false
    }
}

impl OneValue for Count {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let number = |count: u64| Ok(Value::exact(count as f64));
        match &self.0 {
            Measurand::Channel(channel) => from.of_moments(channel, |moments| number(moments.count)),
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => {
                from.of_reals(&self.0, |reals| number(reals.count))
            }
        }
    }
}

impl Function for CountWhere {
    fn name(&self) -> &'static str {
        "count"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        never_holds(&self.0, of)
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::condition(&self.0)]
    }

    fn adds_up(&self) -> Option<AddsUp<'_>> {
        match &self.0.reading {
            Measurand::Channel(channel) => Some(AddsUp::One(channel)),
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => None,
        }
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        let Measurand::Channel(channel) = &self.0.reading else { return None };
        let (low, high) = of.ends(channel)?;
        let least = if self.0.decides(low, high) == Some(true) { 1.0 } else { 0.0 };
        Some((least, of.ticks(channel).map_or(f64::INFINITY, |ticks| ticks as f64)))
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for CountWhere {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let Self(condition) = self;
        match &condition.reading {
            Measurand::Channel(channel) => {
                from.of_distribution(channel, |readings| Ok(readings.count_where(condition)))
            }
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => {
                from.of_decided(&condition.reading, |decided| Ok(decided.number()))
            }
        }
    }
}
