//! `range(x)`: the largest reading less the smallest.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, WindowQuantity};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "range", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Range(Channel::read(parser)?).into()),
};

/// `range(x)`: the largest reading less the smallest.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range(pub(super) Channel);

impl Call {
    /// Returns the call `range(x)`.
    #[must_use]
    pub fn range(channel: impl Into<String>) -> Self {
        Range(Channel(channel.into())).into()
    }
}

impl Function for Range {
    fn name(&self) -> &'static str {
        "range"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::windows(&self.0.0, &[WindowQuantity::Least, WindowQuantity::Largest])]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        of.ends(&self.0.0).map(|(low, high)| (0.0, high - low))
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Range {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.0)
    }

    fn scale(&self) -> Scale {
        Scale::Difference
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let unit = from.unit(&self.0.0);
        from.of_windows(&self.0.0, |windows| {
            let least = windows.smallest(WindowQuantity::Least, &unit)?;
            windows.largest(WindowQuantity::Largest, &unit)?.plus(&least.negated())
        })
    }
}
