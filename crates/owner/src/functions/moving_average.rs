//! `moving_average(x, 7)`: the mean over this group of the `by` clause and the 6 before it, stored ones before `since` too.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::Call;
use super::arguments::{About, Arguments};
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use crate::gathered::moments::Moments;
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::language::{Measurand, Name, QuestionErrorKind as Kind, limits};
use crate::units::Scale;
use crate::value::ValueError;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "moving_average", arguments: "x, 7" }],
    synonyms: &[],
    across_groups: true,
    read: |parser, _| {
        let channel = parser.channel()?;
        parser.expect(',', "',' and a number of groups, as in moving_average(x, 7)")?;
        let groups = parser.whole(|groups| limits::MOVING_GROUPS.contains(groups), Kind::Groups)?;
        parser.close()?;
        Ok(MovingAverage(Moving { channel, groups }).into())
    },
};

/// `moving_average(x, 7)`: the mean over the last groups of the `by` clause.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovingAverage(pub(super) Moving);

/// A channel and a number of groups, in [`limits::MOVING_GROUPS`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Moving {
    channel: String,
    groups: u32,
}

impl Call {
    /// Returns the call `moving_average(x, groups)`.
    #[must_use]
    pub fn moving_average(channel: impl Into<String>, groups: u32) -> Self {
        MovingAverage(Moving { channel: channel.into(), groups }).into()
    }
}

impl Display for Moving {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {}", Name(&self.channel), self.groups)
    }
}

impl Arguments for Moving {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.channel])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Function for MovingAverage {
    fn name(&self) -> &'static str {
        "moving_average"
    }

    fn groups_before(&self) -> u32 {
        self.0.groups.saturating_sub(1)
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::moments(&self.0.channel)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Refused("take mean(x), and for 3 windows")
    }
}

impl OneValue for MovingAverage {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.channel)
    }

    fn scale(&self) -> Scale {
        Scale::Point
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let Moving { channel, groups } = &self.0;
        let (mut found, mut moments, mut expected) = (0, Moments::default(), 0);
        for group in from.last_groups(*groups) {
            found += 1;
            moments = moments.merge(&group.moments(channel));
            expected += group.expected(channel);
        }
        let value = if found < *groups {
            Err(ValueError::Undetermined("there are fewer groups before it than it averages"))
        } else {
            moments.mean(&from.unit(channel))
        };
        Counted { value, count: moments.count, missing: expected.saturating_sub(moments.count) }
    }
}
