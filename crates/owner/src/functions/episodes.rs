//! `episodes(x > 80)`, `episodes(60 <= x <= 79)`: the number of times without a break for which a condition holds.

use serde::{Deserialize, Serialize};

use super::arguments::{never_holds, on_a_channel};
use super::function::{Function, Gaps, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Episodes as Found, Gathered, Need};
use crate::language::Condition;
use crate::value::{Value, ValueError};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "episodes", arguments: "x > 80" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        Ok(Episodes(on_a_channel(parser, "a comparison with a number, as in episodes(x > 80)")?).into())
    },
};

/// `episodes(x > 80)`, `episodes(60 <= x <= 79)`: the number of times without a break for which a condition holds.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episodes(pub(super) Condition);

impl Call {
    /// Returns the call `episodes(x > 80)`. The condition must be on a channel.
    #[must_use]
    pub fn episodes(condition: Condition) -> Self {
        Episodes(condition).into()
    }
}

impl Function for Episodes {
    fn name(&self) -> &'static str {
        "episodes"
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
        InAlarm::Refused("count the readings, as in count(x > 80) >= 5")
    }

    fn gaps(&self, from: &Gathered<'_>) -> Option<Gaps> {
        let ticks = Found::of(&from.readings(), &self.0).missing;
        Some(Gaps {
            ticks,
            words: "between readings for which the condition holds: an episode ends at each gap",
        })
    }
}

impl OneValue for Episodes {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
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
            Ok(Value::exact(found.number as f64))
        })
    }
}
