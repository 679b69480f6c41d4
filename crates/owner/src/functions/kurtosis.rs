//! `kurtosis(x)`: how heavy the tails of readings are.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances, powers};
use crate::gathered::{Channels, Counted, Gathered, Need};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "kurtosis", arguments: "x" }],
    synonyms: &["kurt"],
    across_groups: false,
    read: |parser, _| Ok(Kurtosis(Channel::read(parser)?).into()),
};

/// `kurtosis(x)`: the fourth central moment over the square of the variance; 3 of a normal distribution.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kurtosis(pub(super) Channel);

impl Call {
    /// Returns the call `kurtosis(x)`.
    #[must_use]
    pub fn kurtosis(channel: impl Into<String>) -> Self {
        Kurtosis(Channel(channel.into())).into()
    }
}

impl Function for Kurtosis {
    fn name(&self) -> &'static str {
        "kurtosis"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        powers::cannot_work(&self.0.0, of)
    }

    fn needs(&self) -> Vec<Need> {
        vec![powers::need(&self.0.0)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Kurtosis {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        from.of_windows(&self.0.0, |windows| windows.kurtosis())
    }
}
