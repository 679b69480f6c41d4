//! `last(x)`: the last reading.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, Taken};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "last", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Last(Channel::read(parser)?).into()),
};

/// `last(x)`: the last reading.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Last(pub(super) Channel);

impl Call {
    /// Returns the call `last(x)`.
    #[must_use]
    pub fn last(channel: impl Into<String>) -> Self {
        Last(Channel(channel.into())).into()
    }
}

impl Function for Last {
    fn name(&self) -> &'static str {
        "last"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::one_reading(&self.0.0, Taken::Last)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        of.ends(&self.0.0)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("write x > 80: an alarm looks at each reading as it comes")
    }
}

impl OneValue for Last {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.0)
    }

    fn scale(&self) -> Scale {
        Scale::Point
    }

    fn instant(&self, from: &Gathered<'_>) -> Option<i64> {
        from.readings().last().map(|last| last.at)
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let unit = from.unit(&self.0.0);
        match from.readings().last() {
            Some(last) => Counted { value: Ok(last.in_unit(&unit)), count: 1, missing: 0 },
            None => Counted::nothing(),
        }
    }
}
