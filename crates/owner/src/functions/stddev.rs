//! `stddev(x)`, also read as `std(x)`: the root of the variance.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "stddev", arguments: "x" }],
    synonyms: &["std"],
    across_groups: false,
    read: |parser, _| Ok(Stddev(Channel::read(parser)?).into()),
};

/// `stddev(x)`.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stddev(pub(super) Channel);

impl Call {
    /// Returns the call `stddev(x)`.
    #[must_use]
    pub fn stddev(channel: impl Into<String>) -> Self {
        Stddev(Channel(channel.into())).into()
    }
}

impl Function for Stddev {
    fn name(&self) -> &'static str {
        "stddev"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::spread(&self.0.0)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        // Half of the readings at either end.
        of.ends(&self.0.0).map(|(low, high)| (0.0, (high - low) / 2.0))
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Stddev {
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
        from.of_moments(&self.0.0, |moments| moments.deviation(&from.unit(&self.0.0)))
    }
}
