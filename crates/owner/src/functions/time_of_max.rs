//! `time_of_max(x)`: the time of the largest reading, of the first one among equals: seconds since 1970, in rows a time of the plant's clock.

use serde::{Deserialize, Serialize};

use super::Call;
use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use crate::gathered::{Channels, Counted, Gathered, Need, Readings};
use crate::value::{Value, ValueError};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "time_of_max", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(TimeOfMax(Channel::read(parser)?).into()),
};

/// `time_of_max(x)`: the time of the largest reading, of the first one among equals.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeOfMax(pub(super) Channel);

impl Call {
    /// Returns the call `time_of_max(x)`.
    #[must_use]
    pub fn time_of_max(channel: impl Into<String>) -> Self {
        TimeOfMax(Channel(channel.into())).into()
    }
}

impl Function for TimeOfMax {
    fn name(&self) -> &'static str {
        "time_of_max"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::readings(&self.0.0)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("max(x) has the reading itself")
    }
}

impl OneValue for TimeOfMax {
    fn unit(&self, _: &dyn Channels) -> String {
        "s".to_owned()
    }

    fn instant(&self, from: &Gathered<'_>) -> Option<i64> {
        from.readings().largest().map(|largest| largest.at)
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let of = |readings: &Readings| {
            let at = readings.largest().ok_or(ValueError::NO_READING)?.at;
            Ok(Value { unit: "s".to_owned(), ..Value::exact(at as f64 / 1000.0) })
        };
        from.of_readings(&self.0.0, of)
    }
}
