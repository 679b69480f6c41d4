//! `longest(x > 80)`, `longest(60 <= x <= 79)`: the longest time without a break for which a condition holds, in hours.

use serde::{Deserialize, Serialize};

use super::arguments::{never_holds, on_a_channel};
use super::function::{Function, Gaps, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Episodes as Found, Gathered, Need};
use crate::language::Condition;
use crate::value::{Value, ValueError};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "longest", arguments: "x > 80" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        Ok(Longest(on_a_channel(parser, "a comparison with a number, as in longest(x > 80)")?).into())
    },
};

/// `longest(x > 80)`, `longest(60 <= x <= 79)`: the longest time without a break for which a condition holds, in hours.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Longest(pub(super) Condition);

impl Call {
    /// Returns the call `longest(x > 80)`. The condition must be on a channel.
    #[must_use]
    pub fn longest(condition: Condition) -> Self {
        Longest(condition).into()
    }
}

impl Function for Longest {
    fn name(&self) -> &'static str {
        "longest"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        never_holds(&self.0, of)
    }

    fn needs(&self) -> Vec<Need> {
        self.0.reading.channels().into_iter().map(Need::readings).collect()
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("write x > 80 for 3h")
    }

    fn gaps(&self, from: &Gathered<'_>) -> Option<Gaps> {
        let ticks = Found::of(&from.readings(), &self.0).missing;
        Some(Gaps {
            ticks,
            words: "between readings for which the condition holds: an episode ends at each gap",
        })
    }
}

impl OneValue for Longest {
    fn unit(&self, _: &dyn Channels) -> String {
        "h".to_owned()
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let channel = self.0.reading.channels().into_iter().next().unwrap_or_default();
        from.of_readings(channel, |readings| {
            if readings.count() == 0 {
                return Err(ValueError::NO_READING);
            }
            let found = Found::of(readings, &self.0);
            Ok(Value { unit: "h".to_owned(), ..Value::exact(found.longest_hours()) })
        })
    }
}
