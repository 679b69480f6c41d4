//! `rms(x)`: the root of the mean square.

use serde::{Deserialize, Serialize};

use super::Call;
use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use crate::gathered::{Channels, Counted, Gathered, Need};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "rms", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Rms(Channel::read(parser)?).into()),
};

/// `rms(x)`: the root of the mean square.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rms(pub(super) Channel);

impl Call {
    /// Returns the call `rms(x)`.
    #[must_use]
    pub fn rms(channel: impl Into<String>) -> Self {
        Rms(Channel(channel.into())).into()
    }
}

impl Function for Rms {
    fn name(&self) -> &'static str {
        "rms"
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

impl OneValue for Rms {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.0)
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        from.of_moments(&self.0.0, |moments| moments.root_mean_square(&from.unit(&self.0.0)))
    }
}
