//! `variance(x)`, also read as `var(x)`: Σ (x − mean)² / count.

use serde::{Deserialize, Serialize};

use super::Call;
use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::units::Scale;
use crate::value::squared;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "variance", arguments: "x" }],
    synonyms: &["var"],
    across_groups: false,
    read: |parser, _| Ok(Variance(Channel::read(parser)?).into()),
};

/// `variance(x)`.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variance(pub(super) Channel);

impl Call {
    /// Returns the call `variance(x)`.
    #[must_use]
    pub fn variance(channel: impl Into<String>) -> Self {
        Variance(Channel(channel.into())).into()
    }
}

impl Function for Variance {
    fn name(&self) -> &'static str {
        "variance"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::spread(&self.0.0)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Variance {
    fn unit(&self, channels: &dyn Channels) -> String {
        squared(&channels.unit(&self.0.0))
    }

    fn scale(&self) -> Scale {
        Scale::Difference
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        from.of_moments(&self.0.0, |moments| moments.variance(&from.unit(&self.0.0)))
    }
}
