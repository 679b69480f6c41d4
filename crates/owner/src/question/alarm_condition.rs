//! The conditions of alarms: a limit of a value, or a time without readings.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use super::silence::parser_of;
use super::{Alarm, Silence};
use crate::language::{QuestionError, TextSpans};

/// The condition of an alarm.
///
/// ```
/// use sotto_owner::question::AlarmCondition;
///
/// let hot = AlarmCondition::parse("temperature > 80 for 3 windows")?;
/// assert!(matches!(hot, AlarmCondition::Limit(_)));
/// let dead = AlarmCondition::parse("silent for 3h")?;
/// assert!(matches!(dead, AlarmCondition::Silence(_)));
/// let other = AlarmCondition::parse("absent(temperature) for 3h").unwrap_err();
/// assert!(other.to_string().contains("temperature silent for 3h"));
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one is read for each alarm, and most are limits")]
pub enum AlarmCondition {
    /// A value of windows passes a limit.
    Limit(Alarm),
    /// No reading came for some time.
    Silence(Silence),
}

impl AlarmCondition {
    /// Parses a condition.
    ///
    /// # Errors
    /// [`QuestionError`] names the reason and a remedy; its `Display` draws a caret under the character.
    pub fn parse(text: &str) -> Result<Self, QuestionError> {
        Self::parse_with_places(text).map(|(condition, _)| condition)
    }

    /// Parses a condition. Also returns the places of its parts, for the errors of a later check.
    ///
    /// # Errors
    /// Those of [`AlarmCondition::parse`].
    pub fn parse_with_places(text: &str) -> Result<(Self, TextSpans), QuestionError> {
        let mut parser = parser_of(text)?;
        if let Some(silence) = parser.silence()? {
            return Ok((Self::Silence(silence), parser.places));
        }
        Alarm::parse_with_places(text).map(|(alarm, places)| (Self::Limit(alarm), places))
    }

    /// Returns the channels that the condition names.
    #[must_use]
    pub fn channels(&self) -> BTreeSet<String> {
        match self {
            Self::Limit(alarm) => alarm.question(None).channels(),
            Self::Silence(silence) => silence.channel.iter().cloned().collect(),
        }
    }

    /// Returns the devices of `where device in (…)`. None: all devices.
    #[must_use]
    pub fn only(&self) -> Option<&[String]> {
        match self {
            Self::Limit(Alarm { only, .. }) | Self::Silence(Silence { only, .. }) => only.as_deref(),
        }
    }
}

impl Display for AlarmCondition {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(alarm) => alarm.fmt(out),
            Self::Silence(silence) => silence.fmt(out),
        }
    }
}
