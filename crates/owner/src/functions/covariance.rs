//! `covariance(x, y)`: over the times at which both have a reading, divided by their number.

use serde::{Deserialize, Serialize};

use super::arguments::TwoChannels;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::of_devices::{self, Two, TwoOfDevices, two};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::language::OfDevice;
use crate::units::Scale;
use crate::value::product;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "covariance", arguments: "x, y" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let comma = "',' and a second channel, as in covariance(x, y)";
        Ok(match two(parser, ',', comma)? {
            Two::Channels([x, y]) => Covariance(TwoChannels { x, y }).into(),
            Two::OfDevices([x, y]) => CovarianceOf(TwoOfDevices { x, y }).into(),
        })
    },
};

/// `covariance(x, y)`.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Covariance(pub(super) TwoChannels);

impl Call {
    /// Calls for the mean product of deviations of two channels.
    #[must_use]
    pub fn covariance(x: impl Into<String>, y: impl Into<String>) -> Self {
        Covariance(TwoChannels { x: x.into(), y: y.into() }).into()
    }
}

impl Function for Covariance {
    fn name(&self) -> &'static str {
        "covariance"
    }

    fn needs(&self) -> Vec<Need> {
        let TwoChannels { x, y } = &self.0;
        // Of one channel it is the variance.
        vec![if x == y { Need::spread(x) } else { Need::pair(x, y) }]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Covariance {
    fn unit(&self, channels: &dyn Channels) -> String {
        product(&channels.unit(&self.0.x), &channels.unit(&self.0.y))
    }

    fn scale(&self) -> Scale {
        Scale::Difference
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let TwoChannels { x, y } = &self.0;
        let units = [from.unit(x), from.unit(y)];
        if x == y {
            return from.of_moments(x, |moments| moments.variance(&units[0]));
        }
        from.of_pair(x, y, |pair| pair.covariance([&units[0], &units[1]]))
    }
}

/// `covariance(a of one, b of two)`: the same of channels of two devices, over common times.
///
/// Example: [`OfDevice`](crate::question::OfDevice)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CovarianceOf(pub(super) TwoOfDevices);

impl Call {
    /// Returns the call `covariance(a of one, b of two)`.
    #[must_use]
    pub fn covariance_of(x: OfDevice, y: OfDevice) -> Self {
        CovarianceOf(TwoOfDevices { x, y }).into()
    }
}

impl Function for CovarianceOf {
    fn name(&self) -> &'static str {
        "covariance"
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
        InAlarm::Refused("an alarm looks at each device by itself: take covariance(a, b)")
    }
}

impl OneValue for CovarianceOf {
    fn unit(&self, channels: &dyn Channels) -> String {
        product(&channels.unit(&self.0.x.channel), &channels.unit(&self.0.y.channel))
    }

    fn scale(&self) -> Scale {
        Scale::Difference
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let units = [&self.0.x, &self.0.y].map(|of| from.unit(&of.channel));
        of_devices::of_pair(from, |pair| pair.covariance([&units[0], &units[1]]))
    }
}
