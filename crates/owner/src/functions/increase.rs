//! `increase(x)`: how much a counter grew, with the counts lost at falls.

use serde::{Deserialize, Serialize};
use sotto_pack::ChannelKind;

use super::arguments::Channel;
use super::function::{AddsUp, Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, WindowQuantity};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "increase", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Increase(Channel::read(parser)?).into()),
};

/// `increase(x)`: how much a counter grew.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Increase(pub(super) Channel);

impl Call {
    /// Returns the call `increase(x)`.
    #[must_use]
    pub fn increase(channel: impl Into<String>) -> Self {
        Increase(Channel(channel.into())).into()
    }
}

impl Function for Increase {
    fn name(&self) -> &'static str {
        "increase"
    }

    fn fits(&self, kind: &ChannelKind) -> bool {
        matches!(kind, ChannelKind::Counter(_))
    }

    fn needs(&self) -> Vec<Need> {
        let of_windows = [
            WindowQuantity::First,
            WindowQuantity::Last,
            WindowQuantity::Increase,
            WindowQuantity::Doubt,
            WindowQuantity::Falls,
        ];
        vec![Need::windows(&self.0.0, &of_windows)]
    }

    fn adds_up(&self) -> Option<AddsUp<'_>> {
        Some(AddsUp::Growth(&self.0.0))
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    /// A counter may begin again at any reading, and grow through its whole range until the next one.
    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        let ((low, high), ticks) = of.ends(&self.0.0).zip(of.ticks(&self.0.0))?;
        Some((0.0, (high - low) * ticks as f64))
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Increase {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.0)
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        from.of_windows(&self.0.0, |windows| windows.increase(&from.unit(&self.0.0)))
    }
}
