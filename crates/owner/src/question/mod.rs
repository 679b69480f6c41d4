//! The question language: statistics of channels, over devices and time.
//!
//! A question is a text, a value in Rust ([`Question::select`]) or JSON (serde). All three pass the same checks, and
//! `Display` writes the canonical text. A later check decides which channels exist and which streams devices send; it
//! draws its errors with [`TextSpans`].
//!
//! ```
//! use sotto_owner::question::{By, Call, Question};
//!
//! let text = "mean(inlet) - mean(outlet) as loss, stddev(inlet) since 2014-01-01 by day per device";
//! let question = Question::parse(text)?;
//! let built = Question::select((Call::mean("inlet") - Call::mean("outlet")).named("loss"))
//!     .and(Call::stddev("inlet"))
//!     .since("2014-01-01")
//!     .by(By::Day)
//!     .per_device()
//!     .build()?;
//! assert_eq!(question, built);
//! assert_eq!(question.to_string(), text);
//!
//! let refused = Question::parse("meen(inlet)").unwrap_err();
//! assert_eq!(refused.to_string(), "\
//! column 1: no function is called meen; did you mean mean?
//!     meen(inlet)
//!     ^");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Grammar
//!
//! ```text
//! question = [ ranking ] selected { "," selected } { clause } each clause at most once, in any order
//! ranking  = ( "top" | "bottom" ) NUMBER "devices" "of"      by the first result, which has one value
//! selected = sum { "in" UNIT | "as" NAME }                   at least one call; each at most once
//! sum      = product { ("+" | "-") product }
//! product  = unary { ("*" | "/") unary }
//! unary    = { "-" } ( NUMBER | call [ offset ] | along | tariff | "(" sum ")" )      behind each channel of a call may stand [ of ]
//! of       = "of" ( NAME | "tag" NAME | "all" "devices" )    the call's own devices
//! offset   = "offset" ( "previous" | COUNT ( "h" | "d" | "w" | "mo" | "y" ) )        1w, 1mo
//! along    = ( "cumulative" | "difference" | "rate" ) "(" call ")"
//!          | "ewma" "(" call "," ( NUMBER | "half_life" DURATION ) ")"
//! tariff   = "tariff" "(" call "," FILE ")"                  energy, sum, increase, time or count of a channel
//! clause   = "over" DURATION                                 90s 30m 12h 7d 4w; excludes since and until
//!          | "during" SPAN                                    today, yesterday, this week, last month, 2024, 2024-Q3,
//!                                                             2024-03, 2024-03-05; excludes over, since and until
//!          | "since" WHEN | "until" WHEN                     2014-01-01, 2014-01-01T12:30[:15][Z|+02:00]
//!          | "by" group
//!          | "per" "device" | "per" "tag" | "across" "devices"  exclude each other; across is the default
//!          | "where" where { "and" where }                    each at most once
//!          | "shared"                                         answers are given to others
//! group    = "window" | "hour" | "day" | "week" | "quarter" | "year"
//!          | "month" [ "from" NUMBER ]                        from this day of each month, 1 to 28
//!          | DURATION                                         15m 6h: a part of a day
//!          | cycle [ "and" cycle ]                            two different ones
//! cycle    = "hour" "of" "day" | "weekday" | "day" "of" "week" | "month" "of" "year"
//! where    = "device" "in" "(" NAME { "," NAME } ")"
//!          | "tag" "in" "(" NAME { "," NAME } ")"            readings of a device or a channel with one of them
//!          | "time" 22:00-06:00                               half open; over midnight
//!          | "weekday" "in" "(" DAY { "," DAY } ")"           mon tue wed thu fri sat sun
//!          | "month" "in" "(" MONTH { "," MONTH } ")"         1 to 12, jan to dec
//!          | "date" [ "not" ] "in" ( FILE | "(" DAYS { "," DAYS } ")" )    2024-12-25, 2024-12-24..2025-01-01
//! ```
//!
//! The channel `*` stands for every channel of the devices asked for of which the call makes sense: one result each. A
//! declared question may have [parameters](Template), `$room`.
//!
//! A NAME consists of letters, digits, `_` and `.`, and does not start with a digit or `.`. Any other name, and any
//! word that starts a clause, must be in double quotes, with the escapes `\"` and `\\`.
//!
//! [`Call`] lists the functions. `avg`, `std` and `var` are synonyms of `mean`, `stddev` and `variance`, and `median(x)`
//! is `quantile(x, 0.5)`. Calls with several values (`regression`, `polynomial`, `linear`, `histogram`, `interpolate`,
//! `spectrum`) are selected alone, without arithmetic. [`Along`] needs groups: a `by` clause. [`limits`] bounds all sizes.

mod alarm;
mod alarm_condition;
mod along;
mod arithmetic;
mod asked;
mod builder;
mod by;
mod check;
mod clauses;
mod conditions;
mod expression;
mod grammar;
mod offset;
mod opened;
mod place;
mod reference;
mod scheme;
mod scoped;
mod silence;
mod star;
mod tariff;
mod tariffs;
mod template;
mod units;
mod words;
mod written_call;

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};
use sotto_pack::Clock;

pub use alarm::{Alarm, Measured, Probe};
pub use alarm_condition::AlarmCondition;
pub use along::{Along, AlongGroups, Decay};
pub use arithmetic::CallArithmetic;
pub(crate) use asked::{Asked, AskedCall, AskedResult};
pub use builder::QuestionBuilder;
pub use expression::Expression;
pub(crate) use expression::OfGroups;
pub(crate) use offset::groups_back;
pub use offset::{Earlier, EarlierUnit, Offset};
pub use reference::grammar;
pub use scheme::{ExactScheme, NotExact};
pub use silence::Silence;
pub(crate) use star::{STAR, has_star};
pub use tariff::Priced;
pub(crate) use template::parameter;
pub use template::{NotFilled, Template};
pub(crate) use units::{conversion, priced_unit, unit_of};
pub(crate) use written_call::WithDevices;

pub use crate::functions::{Bins, Call, FunctionName, Side, functions};
pub use crate::language::{
    By, Calendar, Clause, Comparison, Condition, Cycle, Dates, DayRange, Days, DaysOf, Devices, Duration,
    DurationUnit, During, LinearModel, LowerEnd, Measurand, ModelError, NotDays, OfDevice, Period, Price,
    QuestionError, QuestionErrorKind, RankedBy, Ranking, Recurs, Scope, Tariff, TariffError, TextSpans,
    TimeOfDay, Times, Weekday, Weights, When, limits,
};

use crate::language::{Name, UnitName, in_tags, list, only_devices};

/// A question: results to compute, and the readings that they are computed from.
///
/// The fields are public. Call [`Question::check`] after changing them.
///
/// ```
/// use sotto_owner::question::{By, Question};
///
/// let mut question = Question::parse("mean(boiler), stddev(boiler) over 7d by day")?;
/// assert_eq!(question.select[1].name(), "stddev(boiler)");
/// assert_eq!(question.channels().len(), 1);
/// question.by = Some(By::Hour);
/// question.check()?;
/// assert_eq!(question.to_string(), "mean(boiler), stddev(boiler) over 7d by hour");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "check::Unchecked")]
pub struct Question {
    /// Results with different names, 1 to [`limits::SELECTED`].
    pub select: Vec<Selected>,
    /// The first devices alone, in the order of the first result. The question is then per device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Ranking>,
    /// The time covered.
    pub period: Period,
    /// The groups of windows with one answer each. None: one answer over all windows.
    pub by: Option<By>,
    /// One answer over all devices, or one for each.
    pub grouping: Devices,
    /// The devices of `where device in (…)`. None: all devices.
    pub only: Option<Vec<String>>,
    /// The tags of `where tag in (…)`: a reading counts if its device or its channel has one of them. Empty: all readings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The times of `where time …`, `where weekday in (…)`, `where month in (…)` and `where date in …`.
    #[serde(default, skip_serializing_if = "Times::is_all")]
    pub times: Times,
    /// True if answers are given to others (`shared`). Reals are then flooded when they are decrypted, and parameters
    /// leave room for that. Whole numbers are exact and need no flooding.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The scheme under which the cloud evaluates exact results. None: sums with tags where devices send them. Not a part
    /// of the text: `scheme` of the question in `sotto.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<ExactScheme>,
    /// Remarks with which its answers begin, as on channels that `*` leaves out. Not a part of text and JSON.
    #[serde(skip)]
    pub remarks: Vec<String>,
}

/// One result.
///
/// ```
/// use sotto_owner::question::{Call, Selected};
///
/// let named: Selected = Call::mean("boiler").named("average");
/// let unnamed: Selected = Call::mean("boiler").into();
/// assert_eq!((named.name(), unnamed.name()), ("average".into(), "mean(boiler)".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selected {
    /// The value.
    pub expression: Expression,
    /// The unit given with `in`. None: that of the channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The name given with `as`.
    #[serde(default)]
    pub name: Option<String>,
}

impl Selected {
    /// Returns the name given with `as`, else the canonical text of the expression.
    #[must_use]
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.expression.to_string())
    }
}

impl Question {
    /// Parses a question.
    ///
    /// # Errors
    /// [`QuestionError`] names the reason and a remedy; its `Display` draws a caret under the character.
    pub fn parse(text: &str) -> Result<Self, QuestionError> {
        Self::parse_with_places(text).map(|(question, _)| question)
    }

    /// Parses a question. Also returns the places of its parts, for the errors of a later check.
    ///
    /// # Errors
    /// Those of [`Question::parse`].
    pub fn parse_with_places(text: &str) -> Result<(Self, TextSpans), QuestionError> {
        if text.len() > limits::QUESTION_BYTES {
            let kind = QuestionErrorKind::TooLong { bytes: text.len() };
            return Err(QuestionError::new(kind, text, text.floor_char_boundary(limits::QUESTION_BYTES)));
        }
        grammar::question(text)
    }

    /// Starts a question with its first result: a [`Call`], an [`Expression`] or a [`Selected`].
    pub fn select(first: impl Into<Selected>) -> QuestionBuilder {
        QuestionBuilder::new(first.into())
    }

    /// Returns the question with its `over` counted back from a moment, in milliseconds since 1970, in place of the end of the
    /// newest window, or with the time that its `during` means at this moment. Returns None if it has neither.
    ///
    /// ```
    /// use sotto_owner::question::Question;
    /// use sotto_pack::Clock;
    ///
    /// let question = Question::parse("mean(inlet) over 1h")?.back_from(1_700_000_000_000, &Clock::utc());
    /// let text = "mean(inlet) since 2023-11-14T21:13:20+00:00 until 2023-11-14T22:13:20+00:00";
    /// assert_eq!(question.map(|question| question.to_string()).as_deref(), Some(text));
    /// # Ok::<(), sotto_owner::question::QuestionError>(())
    /// ```
    #[must_use]
    pub fn back_from(self, at: i64, clock: &Clock) -> Option<Self> {
        let period = self.period.back_from(at, clock)?;
        Some(Self { period, ..self })
    }

    /// Iterates over the calls of all results in the order of the text.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.select.iter().flat_map(|selected| selected.expression.calls())
    }

    /// Returns true if a call is computed from the means of calendar days.
    pub(crate) fn needs_days(&self) -> bool {
        self.calls().any(|call| call.of().needs_days())
    }

    /// Returns true if conditions, groups that recur, days or prices divide its time.
    pub(crate) fn divides_time(&self) -> bool {
        let recurs = self.by.as_ref().is_some_and(By::is_recurring);
        !self.times.is_all() || recurs || self.needs_days() || !self.tariffs().is_empty()
    }

    /// Returns all channels, including those of attached linear models.
    #[must_use]
    pub fn channels(&self) -> BTreeSet<String> {
        self.calls().flat_map(Call::channels).map(String::from).collect()
    }

    /// Returns the files of linear models that are not attached yet.
    #[must_use]
    pub fn missing_models(&self) -> BTreeSet<String> {
        let missing = self.calls().filter_map(|call| match call.reading() {
            Some(Measurand::Linear { file, model: None }) => Some(file.clone()),
            _ => None,
        });
        missing.collect()
    }

    /// Returns the file of `where date in FILE` whose days are not attached yet.
    #[must_use]
    pub fn missing_days(&self) -> Option<&str> {
        let file = self.times.dates.as_ref().and_then(Dates::file);
        file.filter(|(_, days)| days.is_none()).map(|(file, _)| file)
    }

    /// Attaches the days of the file of `where date in FILE`. Does nothing if the question names none.
    pub fn attach_days(&mut self, days: Days) {
        if let Some((_, slot)) = self.times.dates.as_mut().and_then(Dates::slot) {
            *slot = Some(days);
        }
    }

    /// Attaches a model wherever the question names `file`. Returns the number of occurrences.
    ///
    /// # Errors
    /// [`ModelError`] if the model fails [`LinearModel::check`].
    pub fn attach_model(&mut self, file: &str, model: &LinearModel) -> Result<usize, ModelError> {
        model.check()?;
        let mut places = 0;
        self.change_models(&mut |here, slot| {
            if here == file {
                *slot = Some(model.clone());
                places += 1;
            }
        });
        Ok(places)
    }

    /// Changes the conditions of all calls.
    pub(crate) fn change_conditions(&mut self, change: &mut impl FnMut(&mut Condition)) {
        for selected in &mut self.select {
            selected.expression.change_calls(&mut |call| {
                if let Some(condition) = call.condition_mut() {
                    change(condition);
                }
            });
        }
    }

    fn change_models(&mut self, change: &mut impl FnMut(&str, &mut Option<LinearModel>)) {
        for selected in &mut self.select {
            selected.expression.change_calls(&mut |call| {
                if let Some((file, model)) = call.model_slot() {
                    change(file, model);
                }
            });
        }
    }
}

impl std::str::FromStr for Question {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, QuestionError> {
        Self::parse(text)
    }
}

impl Display for Selected {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.expression.fmt(out)?;
        self.unit.iter().try_for_each(|unit| write!(out, " in {}", UnitName(unit)))?;
        self.name.iter().try_for_each(|name| write!(out, " as {}", Name(name)))
    }
}

impl Display for Question {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.ranking.iter().try_for_each(|ranking| write!(out, "{ranking} "))?;
        list(&self.select, out)?;
        self.period.fmt(out)?;
        self.by.iter().try_for_each(|by| write!(out, " by {by}"))?;
        out.write_str(match self.grouping {
            Devices::Across => "",
            Devices::Each if self.ranking.is_some() => "",
            Devices::Each => " per device",
            Devices::Tag => " per tag",
        })?;
        if let Some(devices) = &self.only {
            only_devices(devices, out)?;
        }
        let mut before = if self.only.is_some() { "and" } else { "where" };
        let tags = (!self.tags.is_empty()).then(|| in_tags(&self.tags));
        for condition in tags.into_iter().chain(self.times.conditions()) {
            write!(out, " {before} {condition}")?;
            before = "and";
        }
        if self.shared {
            out.write_str(" shared")?;
        }
        Ok(())
    }
}
