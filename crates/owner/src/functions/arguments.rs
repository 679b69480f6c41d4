//! The arguments that several functions share.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::Circumstances;
use crate::gathered::Channels;
use crate::language::{
    Condition, Measurand, Name, OfDevice, Parsed, Parser, QuestionErrorKind as Kind, Token,
};

/// Arguments of a function. `Display` writes them as canonical text, without the parentheses.
pub(crate) trait Arguments: Display {
    /// Returns the readings that they are about.
    fn about(&self) -> About<'_>;

    /// Returns the reading, to attach a model to it; None if they name channels.
    fn reading_mut(&mut self) -> Option<&mut Measurand>;

    /// Returns the condition, to give its state a number; None if there is none.
    fn condition_mut(&mut self) -> Option<&mut Condition> {
        None
    }
}

/// The readings that a call is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum About<'a> {
    /// Those of channels, in the order of the text.
    Channels(Vec<&'a str>),
    /// Those of a channel, or the values of a polynomial or a model.
    Reading(&'a Measurand),
    /// Those of two channels, each of one device.
    OfDevices([&'a OfDevice; 2]),
    /// The values of a channel, a polynomial or a model, compared with a limit.
    Condition(&'a Condition),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Channel(pub(super) String);

impl Channel {
    /// Reads a channel and the closing parenthesis.
    pub(super) fn read(parser: &mut Parser<'_>) -> Parsed<Self> {
        let channel = parser.channel()?;
        parser.close_after_name()?;
        Ok(Self(channel))
    }
}

impl Display for Channel {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        Name(&self.0).fmt(out)
    }
}

impl Arguments for Channel {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.0])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

/// Two channels, with a comma between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TwoChannels {
    pub(super) x: String,
    pub(super) y: String,
}

impl Display for TwoChannels {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}, {}", Name(&self.x), Name(&self.y))
    }
}

impl Arguments for TwoChannels {
    fn about(&self) -> About<'_> {
        About::Channels(vec![&self.x, &self.y])
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        None
    }
}

impl Arguments for Measurand {
    fn about(&self) -> About<'_> {
        About::Reading(self)
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        Some(self)
    }
}

/// Reads a reading and the closing parenthesis.
pub(super) fn one_reading(parser: &mut Parser<'_>) -> Parsed<Measurand> {
    let reading = parser.reading()?;
    parser.close_after_name()?;
    Ok(reading)
}

impl Arguments for Condition {
    fn about(&self) -> About<'_> {
        About::Condition(self)
    }

    fn reading_mut(&mut self) -> Option<&mut Measurand> {
        Some(&mut self.reading)
    }

    fn condition_mut(&mut self) -> Option<&mut Condition> {
        Some(self)
    }
}

/// Reads a condition on a channel, perhaps between two numbers, and the closing parenthesis.
pub(super) fn on_a_channel(parser: &mut Parser<'_>, expected: &'static str) -> Parsed<Condition> {
    let at = parser.start();
    let condition = if matches!(parser.peek()?.token, Token::Number(_) | Token::Symbol('-')) {
        let condition = parser.compared()?.1;
        let word = match condition.as_ref().map(|condition| &condition.reading) {
            Some(Measurand::Polynomial { .. }) => Some("polynomial"),
            Some(Measurand::Linear { .. }) => Some("linear"),
            Some(Measurand::Channel(_)) | None => None,
        };
        if let Some(word) = word {
            return Err(parser.error(Kind::NestedCall { name: word.to_owned() }, at));
        }
        condition
    } else {
        let reading = Measurand::Channel(parser.channel()?);
        parser.condition(&reading)?
    };
    let condition = condition.ok_or_else(|| parser.expected(expected))?;
    parser.close()?;
    Ok(condition)
}

/// Returns why no reading that is still to come fulfils a condition on a channel; None if one may.
pub(super) fn never_holds(condition: &Condition, of: &Circumstances<'_>) -> Option<String> {
    let Measurand::Channel(channel) = &condition.reading else { return None };
    let (low, high) = of.ends(channel)?;
    let never = condition.decides(low, high) == Some(false);
    never.then(|| {
        let range = of.range_in_words(channel);
        format!(
            "{condition} never holds: {channel} is declared {range}. Take another limit, or widen its range"
        )
    })
}

/// Returns the unit of a reading. A polynomial or a model may have any unit, so it has none.
pub(super) fn unit_of(reading: &Measurand, channels: &dyn Channels) -> String {
    match reading {
        Measurand::Channel(channel) => channels.unit(channel),
        Measurand::Polynomial { .. } | Measurand::Linear { .. } => String::new(),
    }
}
