//! `time(x > 80)`, `time(60 <= x <= 79)`: the hours during which a condition holds. A reading stands for one period.

use serde::{Deserialize, Serialize};

use super::arguments::never_holds;
use super::function::{AddsUp, Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Decided, Gathered, Need};
use crate::language::{Condition, Measurand};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "time", arguments: "x > 80" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let expected = "a comparison with a number, as in time(x > 80)";
        let condition = parser.compared()?.1.ok_or_else(|| parser.expected(expected))?;
        parser.close()?;
        Ok(TimeWhere(condition).into())
    },
};

/// `time(x > 80)`: the number of readings for which the condition holds, times the period in hours.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeWhere(pub(super) Condition);

impl Call {
    /// Returns the call `time(x > 80)`.
    #[must_use]
    pub fn time_where(condition: Condition) -> Self {
        TimeWhere(condition).into()
    }
}

impl Function for TimeWhere {
    fn name(&self) -> &'static str {
        "time"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        never_holds(&self.0, of)
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::condition(&self.0)]
    }

    fn adds_up(&self) -> Option<AddsUp<'_>> {
        match &self.0.reading {
            Measurand::Channel(channel) => Some(AddsUp::Hours(channel)),
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => None,
        }
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        let Measurand::Channel(channel) = &self.0.reading else { return None };
        of.hours(channel).map(|hours| (0.0, hours))
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for TimeWhere {
    fn unit(&self, _: &dyn Channels) -> String {
        "h".to_owned()
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let Self(condition) = self;
        match &condition.reading {
            Measurand::Channel(channel) => {
                from.of_distribution(channel, |readings| readings.time_where(condition))
            }
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => {
                from.of_decided(&condition.reading, Decided::time)
            }
        }
    }
}
