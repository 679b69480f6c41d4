//! `polynomial(x, [c0, c1])`, `linear(model.json)`: the value of a polynomial or a model at each reading.

use std::fmt::{self, Formatter};

use serde::{Deserialize, Serialize};

use super::function::{Function, InAlarm, Named, Part, SeveralValues, Syntax, Time, Yields};
use super::{Arguments, Call};
use crate::gathered::{Counted, Gathered, Need, Real};
use crate::language::Measurand;
use crate::value::Value;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[
        Named { word: "polynomial", arguments: "x, [0, 1]" },
        Named { word: "linear", arguments: "model.json" },
    ],
    synonyms: &[],
    across_groups: false,
    read: |parser, word| Ok(Values(parser.derived(word)?).into()),
};

/// A polynomial or a linear model without a statistic: its value at each reading. Never a bare channel.
///
/// Example: [`Measurand`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Values(pub(super) Measurand);

impl Call {
    /// Returns the call of a polynomial or a linear model at each reading.
    #[must_use]
    pub fn values(reading: Measurand) -> Self {
        Values(reading).into()
    }
}

impl Function for Values {
    fn name(&self) -> &'static str {
        match self.0 {
            Measurand::Linear { .. } => "linear",
            Measurand::Polynomial { .. } | Measurand::Channel(_) => "polynomial",
        }
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Reals { reading: self.0.clone(), each: true }]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::Several(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Readings(&self.0)
    }

    fn write(&self, arguments: &dyn Arguments, out: &mut Formatter<'_>) -> fmt::Result {
        arguments.fmt(out)
    }
}

impl SeveralValues for Values {
    fn values(&self, from: &Gathered<'_>) -> Vec<Part> {
        let mut each = from.reals().each;
        each.sort_by_key(|real| real.from);
        if each.is_empty() {
            return vec![part(String::new(), Counted::nothing(), None)];
        }
        let of = |(index, Real { from, to, value, bound }): (usize, Real)| {
            let value = Ok(Value { value, bound, unit: String::new() });
            part(format!("[{index}]"), Counted { value, count: 1, missing: 0 }, Some(Time { from, to }))
        };
        each.into_iter().enumerate().map(of).collect()
    }

    fn instead(&self) -> String {
        format!(", or take its mean: mean({}(…))", self.name())
    }
}

fn part(name: String, counted: Counted, time: Option<Time>) -> Part {
    Part { name, counted, unit: String::new(), bin: None, time, interpolated: false }
}
