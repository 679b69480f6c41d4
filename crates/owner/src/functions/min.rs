//! `min(x)`: the smallest reading; `min(a - b)`: the smallest difference of two channels.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::difference::Difference;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, WindowQuantity};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "min", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let x = parser.channel()?;
        if !parser.accept('-')? {
            parser.close_after_name()?;
            return Ok(Min(Channel(x)).into());
        }
        let y = parser.channel()?;
        parser.close_after_name()?;
        Ok(MinDifference(Difference { x, y }).into())
    },
};

/// `min(x)`: the smallest reading.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Min(pub(super) Channel);

/// `min(a - b)`: the smallest difference of two channels of a device, over the ticks at which both have a reading.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MinDifference(pub(super) Difference);

impl Call {
    /// Returns the call `min(a - b)`.
    #[must_use]
    pub fn min_difference(x: impl Into<String>, y: impl Into<String>) -> Self {
        MinDifference(Difference { x: x.into(), y: y.into() }).into()
    }

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

impl Function for MinDifference {
    fn name(&self) -> &'static str {
        "min"
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
        InAlarm::Refused("compare the means, as in mean(a) - mean(b) < 5")
    }
}

impl OneValue for MinDifference {
    fn unit(&self, channels: &dyn Channels) -> String {
        self.0.unit(channels)
    }

    fn scale(&self) -> Scale {
        Scale::Difference
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        self.0.extreme(from, |difference, best| difference < best)
    }
}
