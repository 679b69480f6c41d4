//! `sum(x)`: Σ x, also of the values of a polynomial or a model.

use serde::{Deserialize, Serialize};

use super::arguments::{one_reading, unit_of};
use super::function::{AddsUp, Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, Reals};
use crate::language::Measurand;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "sum", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Sum(one_reading(parser)?).into()),
};

/// `sum(x)`.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sum(pub(super) Measurand);

impl Call {
    /// Returns the call `sum(x)`.
    #[must_use]
    pub fn sum(reading: impl Into<Measurand>) -> Self {
        Sum(reading.into()).into()
    }
}

impl Function for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::sums(&self.0)]
    }

    fn adds_up(&self) -> Option<AddsUp<'_>> {
        match &self.0 {
            Measurand::Channel(channel) => Some(AddsUp::Value(channel)),
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => None,
        }
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        match &self.0 {
            Measurand::Channel(channel) => of.ends_of_sum(channel),
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => None,
        }
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Sum {
    fn unit(&self, channels: &dyn Channels) -> String {
        unit_of(&self.0, channels)
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        match &self.0 {
            Measurand::Channel(channel) => {
                from.of_moments(channel, |moments| moments.sum(&from.unit(channel)))
            }
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => from.of_reals(&self.0, Reals::sum),
        }
    }
}
