//! `max(x)`: the largest reading; `max(a - b)`: the largest difference of two channels.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::difference::Difference;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, WindowQuantity};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "max", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let x = parser.channel()?;
        if !parser.accept('-')? {
            parser.close_after_name()?;
            return Ok(Max(Channel(x)).into());
        }
        let y = parser.channel()?;
        parser.close_after_name()?;
        Ok(MaxDifference(Difference { x, y }).into())
    },
};

/// `max(x)`: the largest reading.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Max(pub(super) Channel);

/// `max(a - b)`: the largest difference of two channels of a device, over the ticks at which both have a reading.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaxDifference(pub(super) Difference);

impl Call {
    /// Returns the call `max(a - b)`.
    #[must_use]
    pub fn max_difference(x: impl Into<String>, y: impl Into<String>) -> Self {
        MaxDifference(Difference { x: x.into(), y: y.into() }).into()
    }

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

impl Function for MaxDifference {
    fn name(&self) -> &'static str {
        "max"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        self.0.cannot_work(of)
    }

    fn needs(&self) -> Vec<Need> {
        self.0.needs()
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        self.0.between(of)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("compare the means, as in mean(a) - mean(b) > 5")
    }
}

impl OneValue for MaxDifference {
    fn unit(&self, channels: &dyn Channels) -> String {
        self.0.unit(channels)
    }

    fn scale(&self) -> Scale {
        Scale::Difference
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        self.0.extreme(from, |difference, best| difference > best)
    }
}
