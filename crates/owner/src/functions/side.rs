//! The side of a limit or a base: `below 18`, `above 24`.

use serde::{Deserialize, Serialize};

use crate::language::{Parsed, Parser};

/// The side of a limit on which readings count.
///
/// ```
/// use sotto_owner::question::{Call, Question, Side};
///
/// let heating = Call::degree_hours("outside", Side::Below, 18.0);
/// let question = Question::select(heating).over("7d".parse()?).build()?;
/// assert_eq!(question.to_string(), "degree_hours(outside, below 18) over 7d");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Readings below the limit, as for heating.
    Below,
    /// Readings above the limit, as for cooling.
    Above,
}

impl Side {
    /// Reads the word of a side. `expected` is what an error says in its absence.
    pub(super) fn read(parser: &mut Parser<'_>, expected: &'static str) -> Parsed<Self> {
        if parser.accept_word("below")? {
            Ok(Self::Below)
        } else if parser.accept_word("above")? {
            Ok(Self::Above)
        } else {
            Err(parser.expected(expected))
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::Above => "above",
        }
    }

    /// Returns how far a value is beyond a limit on this side, at least 0.
    pub(super) fn beyond(self, limit: f64, value: f64) -> f64 {
        let beyond = match self {
            Self::Below => limit - value,
            Self::Above => value - limit,
        };
        beyond.max(0.0)
    }
}
