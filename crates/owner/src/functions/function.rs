//! What a function is made of.

use std::fmt::{self, Formatter};

use sotto_pack::ChannelKind;

use super::{Arguments, Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::language::{Measurand, Parsed, Parser};
use crate::units::Scale;

/// A function's words, and the grammar of its arguments.
pub(crate) struct Syntax {
    /// Its names in canonical text.
    pub(crate) names: &'static [Named],
    /// Other words for the first of them.
    pub(crate) synonyms: &'static [&'static str],
    /// True if it is about several groups, and needs a `by` clause.
    pub(crate) across_groups: bool,
    /// Reads the arguments after the opening parenthesis, and the closing one. Gets the word as it was written.
    pub(crate) read: fn(&mut Parser<'_>, &str) -> Parsed<Call>,
}

/// A name of a function.
#[derive(Clone, Copy)]
pub(crate) struct Named {
    pub(crate) word: &'static str,
    /// Its arguments, as an example.
    pub(crate) arguments: &'static str,
}

/// A function with its arguments.
pub(crate) trait Function {
    fn name(&self) -> &'static str;

    /// Returns the intermediate results that it is computed from.
    fn needs(&self) -> Vec<Need>;

    /// Returns its results: one value, or several.
    fn yields(&self) -> Yields<'_>;

    /// Returns how an alarm takes it.
    fn in_alarm(&self) -> InAlarm<'_>;

    /// Returns why its arguments cannot work, whatever the readings are, and what to do; None if they may.
    fn cannot_work(&self, _: &Circumstances<'_>) -> Option<String> {
        None
    }

    /// Returns the smallest and the largest value that it may have in a window with readings; None if they are not known.
    fn between(&self, _: &Circumstances<'_>) -> Option<(f64, f64)> {
        None
    }

    /// Returns true if it makes sense of a channel of this kind: `*` stands for these.
    fn fits(&self, kind: &ChannelKind) -> bool {
        match kind {
            ChannelKind::Interval | ChannelKind::Gauge(_) | ChannelKind::Amount(_) => true,
            // The mean of two states is the share of the second.
            ChannelKind::State(states) => states.states.len() == 2,
            ChannelKind::Counter(_) | ChannelKind::Angle(_) => false,
        }
    }

    /// Returns the number of groups before its own that its value is made of.
    fn groups_before(&self) -> u32 {
        0
    }

    /// Returns how its values add up over parts of a time; None if they do not.
    fn adds_up(&self) -> Option<AddsUp<'_>> {
        None
    }

    /// Returns true if it is computed from the means of calendar days.
    fn needs_days(&self) -> bool {
        false
    }

    /// Returns true if its values carry noise, as those of polynomials and models do.
    fn has_noise(&self) -> bool {
        self.needs().iter().any(Need::is_real)
    }

    /// Returns the missing ticks of a group that have an effect on its values, beside their number; None if none can have.
    fn gaps(&self, _: &Gathered<'_>) -> Option<Gaps> {
        None
    }

    /// Writes the call's canonical text.
    fn write(&self, arguments: &dyn Arguments, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}({arguments})", self.name())
    }
}

/// How the values of a call add up over parts of a time: the amount that one reading of its channel adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddsUp<'c> {
    /// Its value.
    Value(&'c str),
    /// Its value times the hours of its period.
    Energy(&'c str),
    /// The hours of its period.
    Hours(&'c str),
    /// One.
    One(&'c str),
    /// The growth of a counter since the reading before.
    Growth(&'c str),
}

/// The results of a call.
pub(crate) enum Yields<'c> {
    One(&'c dyn OneValue),
    Several(&'c dyn SeveralValues),
}

/// A function with one value.
pub(crate) trait OneValue {
    fn unit(&self, channels: &dyn Channels) -> String;

    /// Returns what the value says about a unit with a zero of its own, as °C.
    fn scale(&self) -> Scale {
        Scale::Other
    }

    /// Returns true if a value is a size, which is never below zero: its chart begins there.
    fn begins_at_zero(&self) -> bool {
        false
    }

    /// Returns the instant of the reading that is the value, in milliseconds since 1970; None if it is of several.
    fn instant(&self, _: &Gathered<'_>) -> Option<i64> {
        None
    }

    /// Returns the value in a group.
    fn value(&self, from: &Gathered<'_>) -> Counted;
}

/// A function with several values, which stands alone.
pub(crate) trait SeveralValues {
    /// Returns the values in a group.
    fn values(&self, from: &Gathered<'_>) -> Vec<Part>;

    /// Returns a way to ask for one value, after a comma; empty if there is none.
    fn instead(&self) -> String;
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The end of its name, after the name of the result.
    pub(crate) name: String,
    pub(crate) counted: Counted,
    pub(crate) unit: String,
    /// The ends of a histogram's bin, in the channel's unit.
    pub(crate) bin: Option<[f64; 2]>,
    /// The time of the value; None: that of the group.
    pub(crate) time: Option<Time>,
    /// True if the value lies on a line between readings.
    pub(crate) interpolated: bool,
}

/// A time from a start to an end, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// Missing ticks that have an effect on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gaps {
    pub(crate) ticks: u64,
    /// Their place and effect, in words that stand after their number.
    pub(crate) words: &'static str,
}

impl Gaps {
    /// Returns those of two groups.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { ticks: self.ticks + other.ticks, ..self }
    }
}

/// How an alarm takes a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InAlarm<'c> {
    /// Its value is compared.
    Value,
    /// The largest reading of a channel: it is above a limit if any reading is.
    Largest(&'c str),
    /// The smallest reading of a channel: it is below a limit if any reading is.
    Smallest(&'c str),
    /// The values at readings are compared, if it stands alone.
    Readings(&'c Measurand),
    /// It has no single value in a window; the text says what to ask for instead.
    Refused(&'static str),
}
