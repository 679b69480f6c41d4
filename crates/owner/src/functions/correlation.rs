//! `correlation(x, y)`, −1 to 1: over the times at which both have a reading.

use serde::{Deserialize, Serialize};

use super::arguments::TwoChannels;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::of_devices::{self, Two, TwoOfDevices, two};
use super::{Call, Circumstances};
use crate::gathered::moments::Pair;
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::language::OfDevice;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "correlation", arguments: "x, y" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let comma = "',' and a second channel, as in correlation(x, y)";
        Ok(match two(parser, ',', comma)? {
            Two::Channels([x, y]) => Correlation(TwoChannels { x, y }).into(),
            Two::OfDevices([x, y]) => CorrelationOf(TwoOfDevices { x, y }).into(),
        })
    },
};

/// `correlation(x, y)`.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Correlation(pub(super) TwoChannels);

impl Call {
    /// Calls for Pearson's coefficient of two channels.
    #[must_use]
    pub fn correlation(x: impl Into<String>, y: impl Into<String>) -> Self {
        Correlation(TwoChannels { x: x.into(), y: y.into() }).into()
    }
}

impl Function for Correlation {
    fn name(&self) -> &'static str {
        "correlation"
    }

    fn cannot_work(&self, _: &Circumstances<'_>) -> Option<String> {
        let TwoChannels { x, y } = &self.0;
        (x == y).then(|| "the correlation of a channel with itself is 1: name two channels".to_owned())
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::pair(&self.0.x, &self.0.y)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Correlation {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let TwoChannels { x, y } = &self.0;
        from.of_pair(x, y, Pair::correlation)
    }
}

/// `correlation(a of one, b of two)`: the same of channels of two devices, over common times.
///
/// Example: [`OfDevice`](crate::question::OfDevice)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorrelationOf(pub(super) TwoOfDevices);

impl Call {
    /// Returns the call `correlation(a of one, b of two)`.
    #[must_use]
    pub fn correlation_of(x: OfDevice, y: OfDevice) -> Self {
        CorrelationOf(TwoOfDevices { x, y }).into()
    }
}

impl Function for CorrelationOf {
    fn name(&self) -> &'static str {
        "correlation"
    }

    fn cannot_work(&self, _: &Circumstances<'_>) -> Option<String> {
        of_devices::same([&self.0.x, &self.0.y])
    }

    fn needs(&self) -> Vec<Need> {
        of_devices::needs(&self.0.x, &self.0.y)
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("an alarm looks at each device by itself: take correlation(a, b)")
    }
}

impl OneValue for CorrelationOf {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        of_devices::of_pair(from, Pair::correlation)
    }
}
