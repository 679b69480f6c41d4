//! `share(x > 80)`: the part of the readings for which a condition holds, 0 to 1.

use serde::{Deserialize, Serialize};

use super::arguments::never_holds;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Decided, Gathered, Need};
use crate::language::{Condition, Measurand};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "share", arguments: "x > 80" }],
    synonyms: &["fraction", "proportion"],
    across_groups: false,
    read: |parser, _| {
        let expected = "a comparison with a number, as in share(x > 80)";
        let condition = parser.compared()?.1.ok_or_else(|| parser.expected(expected))?;
        parser.close()?;
        Ok(Share(condition).into())
    },
};

/// `share(x > 80)`, `share(60 <= x <= 79)`: the number of readings for which the condition holds, over the number of all.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share(pub(super) Condition);

impl Call {
    /// Returns the call `share(x > 80)`.
    #[must_use]
    pub fn share(condition: Condition) -> Self {
        Share(condition).into()
    }
}

impl Function for Share {
    fn name(&self) -> &'static str {
        "share"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        never_holds(&self.0, of)
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::condition(&self.0)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, _: &Circumstances<'_>) -> Option<(f64, f64)> {
        Some((0.0, 1.0))
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Share {
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
                from.of_distribution(channel, |readings| readings.share_where(condition))
            }
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => {
                from.of_decided(&condition.reading, Decided::share)
            }
        }
    }
}
