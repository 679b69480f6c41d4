//! `mean(x)`, also read as `avg(x)`: Σ x / count, also of the values of a polynomial or a model.

use serde::{Deserialize, Serialize};

use super::arguments::{one_reading, unit_of};
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, Reals};
use crate::language::Measurand;
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "mean", arguments: "x" }],
    synonyms: &["avg"],
    across_groups: false,
    read: |parser, _| Ok(Mean(one_reading(parser)?).into()),
};

/// `mean(x)`.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean(pub(super) Measurand);

impl Call {
    /// Returns the call `mean(x)`.
    #[must_use]
    pub fn mean(reading: impl Into<Measurand>) -> Self {
        Mean(reading.into()).into()
    }
}

impl Function for Mean {
    fn name(&self) -> &'static str {
        "mean"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::sums(&self.0)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        match &self.0 {
            Measurand::Channel(channel) => of.ends(channel),
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => None,
        }
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Mean {
    fn unit(&self, channels: &dyn Channels) -> String {
        unit_of(&self.0, channels)
    }

    fn scale(&self) -> Scale {
        Scale::Point
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        match &self.0 {
            Measurand::Channel(channel) => {
                from.of_moments(channel, |moments| moments.mean(&from.unit(channel)))
            }
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => from.of_reals(&self.0, Reals::mean),
        }
    }
}
