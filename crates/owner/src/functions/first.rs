//! `first(x)`: the first reading.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, Taken};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "first", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(First(Channel::read(parser)?).into()),
};

/// `first(x)`: the first reading.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct First(pub(super) Channel);

impl Call {
    /// Returns the call `first(x)`.
    #[must_use]
    pub fn first(channel: impl Into<String>) -> Self {
        First(Channel(channel.into())).into()
    }
}

impl Function for First {
    fn name(&self) -> &'static str {
        "first"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::one_reading(&self.0.0, Taken::First)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        of.ends(&self.0.0)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("ask for a reading, as in x > 80")
    }
}

impl OneValue for First {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.0)
    }

    fn scale(&self) -> Scale {
        Scale::Point
    }

    fn instant(&self, from: &Gathered<'_>) -> Option<i64> {
        from.readings().first().map(|first| first.at)
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let unit = from.unit(&self.0.0);
        match from.readings().first() {
            Some(first) => Counted { value: Ok(first.in_unit(&unit)), count: 1, missing: 0 },
            None => Counted::nothing(),
        }
    }
}
