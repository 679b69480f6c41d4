//! `changes(x)`: how often a reading differs from the one before.

use serde::{Deserialize, Serialize};
use sotto_pack::ChannelKind;

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, WindowQuantity};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "changes", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Changes(Channel::read(parser)?).into()),
};

/// `changes(x)`: the number of readings that differ from the one before.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changes(pub(super) Channel);

impl Call {
    /// Returns the call `changes(x)`.
    #[must_use]
    pub fn changes(channel: impl Into<String>) -> Self {
        Changes(Channel(channel.into())).into()
    }
}

impl Function for Changes {
    fn name(&self) -> &'static str {
        "changes"
    }

    fn fits(&self, _: &ChannelKind) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        let of_windows = [WindowQuantity::First, WindowQuantity::Last, WindowQuantity::Changes];
        vec![Need::windows(&self.0.0, &of_windows)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        of.ticks(&self.0.0).map(|ticks| (0.0, ticks as f64))
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Changes {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        from.of_windows(&self.0.0, |windows| windows.changes())
    }
}
