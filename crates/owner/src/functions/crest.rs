//! `crest(x)`: the crest factor, the largest size of a reading over the root of the mean square.

use serde::{Deserialize, Serialize};

use super::Call;
use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use crate::gathered::{Channels, Counted, Gathered, Need, WindowQuantity, Windows};
use crate::value::{Value, ValueError};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "crest", arguments: "x" }],
    synonyms: &["crest_factor"],
    across_groups: false,
    read: |parser, _| Ok(Crest(Channel::read(parser)?).into()),
};

/// `crest(x)`: the crest factor, the largest size of a reading over the root of the mean square.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crest(pub(super) Channel);

impl Call {
    /// Returns the call `crest(x)`.
    #[must_use]
    pub fn crest(channel: impl Into<String>) -> Self {
        Crest(Channel(channel.into())).into()
    }
}

/// Returns the largest size of a reading.
fn peak(windows: &Windows, unit: &str) -> Result<Value, ValueError> {
    let (low, high) = windows.largest(WindowQuantity::Largest, unit)?.ends();
    let (below, above) = windows.smallest(WindowQuantity::Least, unit)?.negated().ends();
    let (least, most) = (low.max(below).max(0.0), high.max(above).max(0.0));
    Ok(Value { value: (least + most) / 2.0, bound: (most - least) / 2.0, unit: unit.to_owned() })
}

impl Function for Crest {
    fn name(&self) -> &'static str {
        "crest"
    }

    fn needs(&self) -> Vec<Need> {
        let ends = [WindowQuantity::Least, WindowQuantity::Largest];
        vec![Need::windows(&self.0.0, &ends), Need::spread(&self.0.0)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Crest {
    fn unit(&self, _: &dyn Channels) -> String {
        String::new()
    }

    fn begins_at_zero(&self) -> bool {
        true
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let (channel, unit) = (&self.0.0, from.unit(&self.0.0));
        from.of_windows(channel, |windows| {
            peak(windows, &unit)?.over(&from.moments(channel).root_mean_square(&unit)?)
        })
    }
}
