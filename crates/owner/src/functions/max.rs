//! `max(x)`: the largest reading.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, WindowQuantity};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "max", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Max(Channel::read(parser)?).into()),
};

/// `max(x)`: the largest reading.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Max(pub(super) Channel);

impl Call {
    /// Returns the call `max(x)`.
    #[must_use]
    pub fn max(channel: impl Into<String>) -> Self {
        Max(Channel(channel.into())).into()
    }
}

impl Function for Max {
    fn name(&self) -> &'static str {
        "max"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::windows(&self.0.0, &[WindowQuantity::Largest])]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        of.ends(&self.0.0)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Largest(&self.0.0)
    }
}

impl OneValue for Max {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.0)
    }

    fn scale(&self) -> Scale {
        Scale::Point
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        from.of_windows(&self.0.0, |windows| windows.largest(WindowQuantity::Largest, &from.unit(&self.0.0)))
    }
}
