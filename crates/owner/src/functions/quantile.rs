//! `quantile(x, 0.95)`, and `median(x)` for 0.5: the smallest reading that at least this share of the readings does not
//! exceed.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::arguments::{About, Arguments};
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need};
use crate::language::{Measurand, Name, Number, Parsed, Parser, QuestionErrorKind as Kind};
use crate::units::Scale;

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "quantile", arguments: "x, 0.95" }],
    synonyms: &[MEDIAN],
    across_groups: false,
    read: |parser, word| {
        let channel = parser.channel()?;
        let share = if word == MEDIAN {
            0.5
        } else {
            parser.expect(',', "',' and a share, as in quantile(x, 0.95)")?;
            share(parser)?
        };
        parser.close()?;
        Ok(Quantile(Share { channel, share }).into())
    },
};

/// The word for the share 0.5, which it has no other way to name.
const MEDIAN: &str = "median";

/// Reads a share.
fn share(parser: &mut Parser<'_>) -> Parsed<f64> {
    let at = parser.start();
    let share = parser.number("a share, as in quantile(x, 0.95)")?;
    // Negative zero is outside: it has no canonical text of its own.
    let possible = (0.0..=1.0).contains(&share) && share.is_sign_positive();
    if possible { Ok(share) } else { Err(parser.error(Kind::Share, at)) }
}

/// `quantile(x, 0.95)`, and `median(x)` for 0.5.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantile(pub(super) Share);

/// A channel and a share, 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Share {
    channel: String,
    share: f64,
}

impl Call {
    /// Returns the call `quantile(x, share)`.
    #[must_use]
    pub fn quantile(channel: impl Into<String>, share: f64) -> Self {
        Quantile(Share { channel: channel.into(), share }).into()
    }
}

impl Display for Share {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {}", Name(&self.channel), Number(self.share))
    }
}

impl Arguments for Share {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.channel])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Function for Quantile {
    fn name(&self) -> &'static str {
        "quantile"
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::distribution(&self.0.channel)]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn between(&self, of: &Circumstances<'_>) -> Option<(f64, f64)> {
        of.ends(&self.0.channel)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Quantile {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.channel)
    }

    fn scale(&self) -> Scale {
        Scale::Point
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        let Share { channel, share } = &self.0;
        from.of_distribution(channel, |readings| readings.quantile(*share, &from.unit(channel)))
    }
}
