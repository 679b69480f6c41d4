//! `skewness(x)`: how far readings lean to one side of their mean.

use serde::{Deserialize, Serialize};

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances, powers};
use crate::gathered::{Channels, Counted, Gathered, Need};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "skewness", arguments: "x" }],
    synonyms: &["skew"],
    across_groups: false,
    read: |parser, _| Ok(Skewness(Channel::read(parser)?).into()),
};

/// `skewness(x)`: the third central moment over the cube of the standard deviation, divided by the count.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skewness(pub(super) Channel);

impl Call {
    /// Returns the call `skewness(x)`.
    #[must_use]
    pub fn skewness(channel: impl Into<String>) -> Self {
        Skewness(Channel(channel.into())).into()
    }
}

impl Function for Skewness {
    fn name(&self) -> &'static str {
        "skewness"
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

impl OneValue for Skewness {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        from.of_windows(&self.0.0, |windows| windows.skewness())
    }
}
