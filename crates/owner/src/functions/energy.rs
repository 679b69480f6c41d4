//! `energy(x)`: the sum of reading · period, the period in hours.

use serde::{Deserialize, Serialize};
use sotto_pack::ChannelKind;

use super::arguments::Channel;
use super::function::{AddsUp, Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::value::{Value, ValueError, product};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "energy", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Energy(Channel::read(parser)?).into()),
};

/// `energy(x)`: the sum times the period in hours.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy(pub(super) Channel);

impl Call {
    /// Returns the call `energy(x)`.
    #[must_use]
    pub fn energy(channel: impl Into<String>) -> Self {
        Energy(Channel(channel.into())).into()
    }
}

impl Function for Energy {
    fn name(&self) -> &'static str {
        "energy"
    }

    fn fits(&self, kind: &ChannelKind) -> bool {
        matches!(kind, ChannelKind::Interval | ChannelKind::Gauge(_))
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::moments(&self.0.0)]
    }

    fn adds_up(&self) -> Option<AddsUp<'_>> {
        Some(AddsUp::Energy(&self.0.0))
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        let ((low, high), hours) = of.ends(&self.0.0).zip(of.hours(&self.0.0))?;
        // One reading at least, of less than the whole time.
        Some(((low * hours).min(low.max(0.0)), (high * hours).max(high.min(0.0))))
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Energy {
    fn unit(&self, channels: &dyn Channels) -> String {
        product(&channels.unit(&self.0.0), "h")
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let energy = from.energy(&self.0.0);
        from.of_moments(&self.0.0, |moments| match moments.count {
            0 => Err(ValueError::NO_READING),
            _ => Ok(Value { value: energy.value, bound: energy.bound, unit: self.unit(from.channels()) }),
        })
    }
}
