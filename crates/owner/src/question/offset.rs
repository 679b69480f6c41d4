//! The same group earlier: `mean(x) offset 1w`, `mean(x) offset previous`.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::{Question, WithDevices};
use crate::functions::Call;
use crate::language::{By, Duration, DurationUnit, Parsed, Parser, QuestionErrorKind as Kind, Scope, limits};

/// A call in an earlier group.
///
/// ```
/// use sotto_owner::question::{By, Call, Earlier, EarlierUnit, Offset, Question};
///
/// let week = Offset { of: Call::mean("power"), devices: None, earlier: Earlier::Time { count: 1, unit: EarlierUnit::Week } };
/// let question = Question::select((Call::mean("power") - week).named("more")).by(By::Day).build()?;
/// assert_eq!(question.to_string(), "mean(power) - mean(power) offset 1w as more by day");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offset {
    /// The call.
    pub of: Call,
    /// The devices that the call names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Scope>,
    /// The earlier group.
    pub earlier: Earlier,
}

/// An earlier group, as seen from one of the answer.
///
/// Example: [`Offset`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Earlier {
    /// The same group so much earlier, by the plant's calendar.
    Time {
        /// Number of units, 1 to [`limits::EARLIER`].
        count: u32,
        /// The unit.
        unit: EarlierUnit,
    },
    /// The group before; without groups the time of equal length before.
    Previous,
}

/// A unit of an offset.
///
/// Example: [`Offset`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlierUnit {
    /// `h`.
    Hour,
    /// `d`: the same time of day.
    Day,
    /// `w`.
    Week,
    /// `mo`: the same day of the month; its last day if it has none of this number.
    Month,
    /// `y`.
    Year,
}

impl EarlierUnit {
    /// All units, shortest first.
    pub const ALL: [Self; 5] = [Self::Hour, Self::Day, Self::Week, Self::Month, Self::Year];

    /// Returns the letters of the language.
    #[must_use]
    pub const fn letters(self) -> &'static str {
        match self {
            Self::Hour => "h",
            Self::Day => "d",
            Self::Week => "w",
            Self::Month => "mo",
            Self::Year => "y",
        }
    }
}

impl Earlier {
    /// Reads `1w` or `3mo`.
    fn read(written: &str) -> Option<Self> {
        let digits = written.bytes().take_while(u8::is_ascii_digit).count();
        let (count, letters) = written.split_at(digits);
        let unit = EarlierUnit::ALL.into_iter().find(|unit| unit.letters() == letters)?;
        let count = count.parse().ok().filter(|count| limits::EARLIER.contains(count))?;
        Some(Self::Time { count, unit })
    }

    /// Returns the offsets that lead from groups to whole groups, if this one does not.
    fn instead(self, by: By) -> Option<&'static str> {
        use EarlierUnit::{Day, Hour, Month, Week, Year};
        let Self::Time { count, unit } = self else {
            let has_none = matches!(by, By::Window | By::Recurring { .. });
            return has_none.then_some("take by hour, day, week, month, quarter or year");
        };
        let multiple = |of: u32| count.is_multiple_of(of);
        let leads = match (by, unit) {
            (By::Window | By::Recurring { .. }, _) => {
                return Some("take by hour, day, week, month, quarter or year");
            }
            (By::Every(length), Hour) => (3600 * u64::from(count)).is_multiple_of(length.seconds()),
            (By::Every(_) | By::Hour, _)
            | (By::Day, Day | Week | Month | Year)
            | (By::Week, Week)
            | (By::Month | By::MonthFrom(_), Month | Year)
            | (By::Quarter | By::Year, Year) => true,
            (By::Week, Day) => multiple(7),
            (By::Quarter, Month) => multiple(3),
            (By::Year, Month) => multiple(12),
            _ => false,
        };
        let instead = match by {
            By::Window | By::Recurring { .. } => "take by hour, day, week, month, quarter or year",
            By::Every(_) => "take whole groups, as 24h, 1d, 1w, 1mo, 1y or previous",
            By::Hour => "take 24h, 1d, 1w, 1mo, 1y or previous",
            By::Day => "take 1d, 1w, 1mo, 1y or previous",
            By::Week => "take 1w, 52w or previous",
            By::Month | By::MonthFrom(_) => "take 1mo, 1y or previous",
            By::Quarter => "take 3mo, 1y or previous",
            By::Year => "take 1y or previous",
        };
        (!leads).then_some(instead)
    }
}

impl Display for Offset {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} offset {}", WithDevices(&self.of, self.devices.as_ref()), self.earlier)
    }
}

impl Display for Earlier {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time { count, unit } => write!(out, "{count}{}", unit.letters()),
            Self::Previous => out.write_str("previous"),
        }
    }
}

impl Parser<'_> {
    /// Parses `offset 1w` after a call that begins at `at`, if it is there.
    // Apart, so that the frames of parentheses in one another stay small.
    #[inline(never)]
    pub(super) fn offset(&mut self, of: &Call, at: usize) -> Parsed<Option<Earlier>> {
        let word = self.start();
        if !self.accept_word("offset")? {
            return Ok(None);
        }
        if of.is_vector() {
            let kind = Kind::VectorInArithmetic { call: of.function(), instead: of.instead() };
            return Err(self.error(kind, at));
        }
        if of.syntax().across_groups || of.needs().iter().any(crate::gathered::Need::is_weighted) {
            return Err(self.error(Kind::OffsetCall { call: of.function() }, word));
        }
        let written_at = self.start();
        let earlier = if self.accept_word("previous")? {
            Earlier::Previous
        } else {
            let written = self.raw(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
            Earlier::read(written).ok_or_else(|| self.error(Kind::Offset, written_at))?
        };
        self.places.offsets.push(word);
        Ok(Some(earlier))
    }

    /// Refuses offsets that lead to no whole group.
    pub(super) fn check_offsets(&self, question: &Question) -> Parsed<()> {
        let offsets = question.select.iter().flat_map(|selected| selected.expression.offsets());
        for (Offset { earlier, .. }, at) in offsets.zip(&self.places.offsets) {
            let instead = question.by.and_then(|by| Some((by, earlier.instead(by)?)));
            if let Some((by, instead)) = instead {
                let (offset, by) = (earlier.to_string(), by.to_string());
                return Err(self.error(Kind::OffsetOfGroups { offset, by, instead }, *at));
            }
        }
        Ok(())
    }
}

/// Returns the hours of an offset in groups of this length; None for other units.
pub(crate) fn groups_back(earlier: Earlier, length: Duration) -> Option<u64> {
    match earlier {
        Earlier::Time { count, unit: EarlierUnit::Hour } => {
            Some(u64::from(count) * DurationUnit::Hour.seconds() / length.seconds().max(1))
        }
        _ => None,
    }
}
