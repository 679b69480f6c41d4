//! `regression(y ~ x)`: slope and intercept of the least-squares line, over the times at which both have a reading.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::arguments::{About, Arguments};
use super::function::{Function, InAlarm, Named, Part, SeveralValues, Syntax, Yields};
use super::of_devices::{self, ExplainedOfDevices, Two, two};
use super::{Call, Circumstances};
use crate::gathered::moments::Pair;
use crate::gathered::{Counted, Gathered, Need};
use crate::language::{Measurand, Name, OfDevice};
use crate::value::ratio;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "regression", arguments: "y ~ x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| {
        let tilde = "'~' and the channel that explains, as in regression(y ~ x)";
        Ok(match two(parser, '~', tilde)? {
            Two::Channels([y, x]) => Regression(Explained { y, x }).into(),
            Two::OfDevices([y, x]) => RegressionOf(ExplainedOfDevices { y, x }).into(),
        })
    },
};

/// `regression(y ~ x)`: slope and intercept of the least-squares line.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression(pub(super) Explained);

/// The dependent channel and the independent one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Explained {
    y: String,
    x: String,
}

impl Call {
    /// Calls for the least-squares line of y over x.
    #[must_use]
    pub fn regression(y: impl Into<String>, x: impl Into<String>) -> Self {
        Regression(Explained { y: y.into(), x: x.into() }).into()
    }
}

impl Display for Explained {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} ~ {}", Name(&self.y), Name(&self.x))
    }
}

impl Arguments for Explained {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.y, &self.x])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Function for Regression {
    fn name(&self) -> &'static str {
        "regression"
    }

    fn cannot_work(&self, _: &Circumstances<'_>) -> Option<String> {
        let Explained { y, x } = &self.0;
        (x == y).then(|| {
            "a channel is the line through itself, slope 1 and intercept 0: name two channels".to_owned()
        })
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::pair(&self.0.x, &self.0.y)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::Several(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("take correlation(y, x) or covariance(y, x)")
    }
}

impl SeveralValues for Regression {
    fn values(&self, from: &Gathered<'_>) -> Vec<Part> {
        let Explained { y, x } = &self.0;
        let (x_unit, y_unit) = (from.unit(x), from.unit(y));
        let pair = from.pair(x, y);
        line(&pair, [&x_unit, &y_unit], from.missing(&[x, y], pair.x.count))
    }

    fn instead(&self) -> String {
        String::new()
    }
}

/// Returns slope and intercept.
fn line(pair: &Pair, [x_unit, y_unit]: [&str; 2], missing: u64) -> Vec<Part> {
    let line = pair.regression([x_unit, y_unit]);
    let part = |(at, (name, unit)): (usize, (&str, String))| Part {
        name: format!(".{name}"),
        counted: Counted { value: line.clone().map(|line| line[at].clone()), count: pair.x.count, missing },
        unit,
        bin: None,
        time: None,
        interpolated: false,
    };
    let parts = [("slope", ratio(y_unit, x_unit)), ("intercept", y_unit.to_owned())];
    parts.into_iter().enumerate().map(part).collect()
}

/// `regression(b of two ~ a of one)`: the same of channels of two devices, over common times.
///
/// Example: [`OfDevice`](crate::question::OfDevice)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegressionOf(pub(super) ExplainedOfDevices);

impl Call {
    /// Calls for the least-squares line of y over x, channels of two devices.
    #[must_use]
    pub fn regression_of(y: OfDevice, x: OfDevice) -> Self {
        RegressionOf(ExplainedOfDevices { y, x }).into()
    }
}

impl Function for RegressionOf {
    fn name(&self) -> &'static str {
        "regression"
    }

    fn cannot_work(&self, _: &Circumstances<'_>) -> Option<String> {
        of_devices::same([&self.0.x, &self.0.y])
    }

    fn needs(&self) -> Vec<Need> {
        of_devices::needs(&self.0.x, &self.0.y)
    }

    fn yields(&self) -> Yields<'_> {
        Yields::Several(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("take correlation(y, x) or covariance(y, x)")
    }
}

impl SeveralValues for RegressionOf {
    fn values(&self, from: &Gathered<'_>) -> Vec<Part> {
        let [x_unit, y_unit] = [&self.0.x, &self.0.y].map(|of| from.unit(&of.channel));
        line(&of_devices::pair(from), [&x_unit, &y_unit], 0)
    }

    fn instead(&self) -> String {
        String::new()
    }
}
