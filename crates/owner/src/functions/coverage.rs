//! `coverage(x)`: the share of the expected readings that are there, 0 to 1.

use serde::{Deserialize, Serialize};
use sotto_pack::ChannelKind;

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::value::{Value, ValueError};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "coverage", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Coverage(Channel::read(parser)?).into()),
};

/// `coverage(x)`: the share of the expected readings that are there, 0 to 1. One is expected at each tick between a device's
/// first and last window; by window from its first reading on.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coverage(pub(super) Channel);

impl Call {
    /// Returns the call `coverage(x)`.
    #[must_use]
    pub fn coverage(channel: impl Into<String>) -> Self {
        Coverage(Channel(channel.into())).into()
    }
}

impl Function for Coverage {
    fn name(&self) -> &'static str {
        "coverage"
    }

    fn fits(&self, _: &ChannelKind) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::moments(&self.0.0)]
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

impl OneValue for Coverage {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let channel = &self.0.0;
        let expected = from.expected(channel);
        from.of_moments(channel, |moments| match expected {
            0 => Err(ValueError::Undetermined("no reading is expected")),
            // A tick that the end of a group cuts is rounded.
            _ => Value::exact(moments.count.min(expected) as f64).over(&Value::exact(expected as f64)),
        })
    }
}
