//! `min(x)`: the smallest reading.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, WindowQuantity};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "min", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Min(Channel::read(parser)?).into()),
};

/// `min(x)`: the smallest reading.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Min(pub(super) Channel);

impl Call {
    /// Returns the call `min(x)`.
    #[must_use]
    pub fn min(channel: impl Into<String>) -> Self {
        Min(Channel(channel.into())).into()
    }
}

impl Function for Min {
    fn name(&self) -> &'static str {
        "min"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::windows(&self.0.0, &[WindowQuantity::Least])]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        of.ends(&self.0.0)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Smallest(&self.0.0)
    }
}

impl OneValue for Min {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.0)
    }

    fn scale(&self) -> Scale {
        Scale::Point
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        from.of_windows(&self.0.0, |windows| windows.smallest(WindowQuantity::Least, &from.unit(&self.0.0)))
    }
}
