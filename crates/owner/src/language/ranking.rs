//! The order of devices by a result: `top 3 devices of max(temperature)`.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::error::QuestionErrorKind as Kind;
use super::lexer::Token;
use super::limits;
use super::parser::{Parsed, Parser};

/// The first devices by the first result of a question.
///
/// ```
/// use sotto_owner::question::{Question, RankedBy, Ranking};
///
/// let question = Question::parse("top 3 devices of max(heat), mean(heat) by day")?;
/// assert_eq!(question.ranking, Some(Ranking { by: RankedBy::Largest, devices: 3 }));
/// assert_eq!(question.to_string(), "top 3 devices of max(heat), mean(heat) by day");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranking {
    /// The end of the order that comes first.
    pub by: RankedBy,
    /// The largest number of devices in a group, in [`limits::RANKED`].
    pub devices: u32,
}

/// The end of an order that comes first.
///
/// Example: [`Ranking`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankedBy {
    /// `top`: the largest value.
    Largest,
    /// `bottom`: the smallest value.
    Smallest,
}

impl RankedBy {
    const fn word(self) -> &'static str {
        match self {
            Self::Largest => "top",
            Self::Smallest => "bottom",
        }
    }
}

impl Parser<'_> {
    /// Reads `top 3 devices of` at the beginning of a question, if it is there.
    pub(crate) fn ranking(&mut self) -> Parsed<Option<Ranking>> {
        let before = self.end;
        let next = self.peek()?;
        let by = match next.token {
            Token::Word("top") => RankedBy::Largest,
            Token::Word("bottom") => RankedBy::Smallest,
            _ => return Ok(None),
        };
        self.end = next.end;
        // A minus would be a number, too.
        if !matches!(self.peek()?.token, Token::Number(_) | Token::Symbol('-')) {
            self.end = before;
            return Ok(None);
        }
        let devices = self.whole(|devices| limits::RANKED.contains(devices), Kind::RankedDevices)?;
        if !(self.accept_word("devices")? || self.accept_word("device")?) {
            return Err(self.expected("devices, as in top 3 devices of mean(x)"));
        }
        if !self.accept_word("of")? {
            return Err(self.expected("of, as in top 3 devices of mean(x)"));
        }
        Ok(Some(Ranking { by, devices }))
    }
}

impl Display for Ranking {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { by, devices } = self;
        write!(out, "{} {devices} {} of", by.word(), if *devices == 1 { "device" } else { "devices" })
    }
}
