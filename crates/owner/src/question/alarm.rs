//! Conditions of alarms: `temperature > 80 for 3 windows`.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};
use sotto_program::text;

use super::grammar::Term;
use super::{Expression, Question, STAR};
use crate::functions::{Call, InAlarm};
use crate::language::{
    By, Clause, Comparison, Condition, Duration, Measurand, Number, Parsed, Parser, QuestionError,
    QuestionErrorKind as Kind, RESERVED, TextSpans, Token, limits, only_devices, token, unquoted,
};

/// The quantity that an alarm compares.
///
/// Example: [`Alarm`]
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// Each reading of a channel, or each value of a polynomial or a model: a window counts if the comparison holds for
    /// any of them.
    Reading(Measurand),
    /// A value of each window: a statistic, or arithmetic on statistics.
    Value(Expression),
}

/// A condition that holds or not in each window of each device.
///
/// Text and JSON are the same: `temperature > 80 for 3 windows`. A bare channel stands for its readings, a polynomial or
/// a model for its values: a window counts if any of them is above. Every device is looked at by itself; `per device` may be written, and says the same.
///
/// ```text
/// alarm  = ( NAME | sum ) ( ">" | ">=" | "<" | "<=" ) NUMBER { clause }      each clause at most once, in any order
/// clause = "for" ( COUNT ( "window" | "windows" ) | DURATION )
///        | "per" "device"
///        | "where" "device" "in" "(" NAME { "," NAME } ")"
/// ```
///
/// ```
/// use sotto_owner::question::{Alarm, Measured};
///
/// let hot = Alarm::parse("temperature > 80 for 3 windows per device")?;
/// assert_eq!((hot.windows, hot.limit), (3, 80.0));
/// assert_eq!(hot.measured, Measured::Reading("temperature".into()));
/// assert_eq!(hot.to_string(), "temperature > 80 for 3 windows");
/// // The question whose answer decides, without and with a limit at which the alarm ends.
/// assert_eq!(hot.question(None).to_string(), "count(temperature > 80) by window per device");
/// let text = "count(temperature > 80), count(temperature > 75) by window per device";
/// assert_eq!(hot.question(Some(75.0)).to_string(), text);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Alarm {
    /// The quantity compared.
    pub measured: Measured,
    /// Stands between quantity and limit.
    pub comparison: Comparison,
    /// The limit, in the quantity's unit. Finite.
    pub limit: f64,
    /// Number of consecutive windows in which the condition must hold, in [`limits::ALARM_WINDOWS`].
    pub windows: u32,
    /// The time that these windows cover at least. None: their number decides.
    pub time: Option<Duration>,
    /// The devices of `where device in (…)`. None: all devices.
    pub only: Option<Vec<String>>,
}

/// A value of a window, and the comparison that decides whether a limit is passed.
///
/// ```
/// use sotto_owner::question::{Alarm, Comparison, Probe};
///
/// // Extremes are known to the resolution, counts exactly: the largest reading is above if any reading is.
/// let Probe { expression, comparison, limit } = Alarm::parse("max(boiler) > 80")?.probe(80.0);
/// assert_eq!(expression.to_string(), "count(boiler > 80)");
/// assert!(comparison.holds(1.0, limit) && !comparison.holds(0.0, limit));
/// assert_eq!(comparison, Comparison::AtLeast);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The value.
    pub expression: Expression,
    /// The comparison with [`Probe::limit`].
    pub comparison: Comparison,
    /// The number compared with.
    pub limit: f64,
}

impl Alarm {
    /// Returns an alarm on a value of each window of each device.
    #[must_use]
    pub fn on(value: Expression, comparison: Comparison, limit: f64) -> Self {
        Self { measured: Measured::Value(value), comparison, limit, windows: 1, time: None, only: None }
    }

    /// Returns true if the value follows from the presence of readings alone: from `coverage(x)`. A window without readings, or
    /// that is missing between others, has such a value.
    #[must_use]
    pub fn is_of_coverage(&self) -> bool {
        let Measured::Value(expression) = &self.measured else { return false };
        expression.calls().all(|call| matches!(call, Call::Coverage(_)))
    }

    /// Parses a condition.
    ///
    /// # Errors
    /// [`QuestionError`] names the reason and a remedy; its `Display` draws a caret under the character.
    pub fn parse(text: &str) -> Result<Self, QuestionError> {
        Self::parse_with_places(text).map(|(alarm, _)| alarm)
    }

    /// Parses a condition. Also returns the places of its parts, for the errors of a later check.
    ///
    /// # Errors
    /// Those of [`Alarm::parse`].
    pub fn parse_with_places(text: &str) -> Result<(Self, TextSpans), QuestionError> {
        if text.len() > limits::QUESTION_BYTES {
            let kind = Kind::TooLong { bytes: text.len() };
            return Err(QuestionError::new(kind, text, text.floor_char_boundary(limits::QUESTION_BYTES)));
        }
        let mut parser = Parser::new(text);
        let alarm = parser.alarm()?;
        Ok((alarm, parser.places))
    }

    /// Returns the value and the comparison that decide whether a window is on the alarm's side of `limit`.
    ///
    /// Readings, and the largest and the smallest of them, become counts of readings on one side of the limit: these are
    /// exact where a device counts its readings in two bins.
    #[must_use]
    pub fn probe(&self, limit: f64) -> Probe {
        use Comparison::{AtLeast, AtMost, Greater, Less};
        let count = |reading: Measurand, comparison: Comparison, holds: Comparison| Probe {
            expression: Call::count_where(Condition::new(reading, comparison, limit)).into(),
            comparison: holds,
            limit: 1.0,
        };
        let comparison = self.comparison;
        let expression = match &self.measured {
            Measured::Reading(reading) => return count(reading.clone(), comparison, AtLeast),
            Measured::Value(expression) => expression,
        };
        let itself = || Probe { expression: expression.clone(), comparison, limit };
        let Expression::Call(call) = expression else { return itself() };
        let any = |channel: &str| count(channel.into(), comparison, AtLeast);
        // The largest reading is below if no reading is at the limit or above it.
        let none = |channel: &str| count(channel.into(), comparison.negated(), Less);
        match (call.of().in_alarm(), comparison) {
            (InAlarm::Largest(channel), Greater | AtLeast) | (InAlarm::Smallest(channel), Less | AtMost) => {
                any(channel)
            }
            (InAlarm::Largest(channel), Less | AtMost) | (InAlarm::Smallest(channel), Greater | AtLeast) => {
                none(channel)
            }
            (InAlarm::Largest(_) | InAlarm::Smallest(_), _)
            | (InAlarm::Value | InAlarm::Readings(_) | InAlarm::Refused(_), _) => itself(),
        }
    }

    /// Returns the question about each window of each device: the value for the limit and, if it is another one, the
    /// value for the limit at which the alarm ends.
    #[must_use]
    pub fn question(&self, clear: Option<f64>) -> Question {
        let first = self.probe(self.limit).expression;
        let second = clear.map(|clear| self.probe(clear).expression).filter(|second| *second != first);
        let mut builder = Question::select(first).by(By::Window).per_device();
        if let Some(second) = second {
            builder = builder.and(second);
        }
        if let Some(only) = &self.only {
            builder = builder.only(only.clone());
        }
        builder.unchecked()
    }

    /// Returns true if `clear` is on the quiet side of the limit, or the limit itself.
    #[must_use]
    pub fn clears_at(&self, clear: f64) -> bool {
        match self.comparison {
            Comparison::Greater | Comparison::AtLeast => clear <= self.limit,
            Comparison::Less | Comparison::AtMost => clear >= self.limit,
            Comparison::Equal | Comparison::Differs => clear == self.limit,
        }
    }
}

impl Parser<'_> {
    fn alarm(&mut self) -> Parsed<Alarm> {
        let measured = self.measured()?;
        let next = self.peek()?;
        let Token::Comparison(comparison) = next.token else {
            let after = text::excerpt(&measured.to_string());
            return Err(self.error(Kind::AlarmComparison { after }, next.start));
        };
        self.end = next.end;
        let at = self.start();
        let limit = match (self.number("a number, as in temperature > 80"), self.peek()?.token) {
            (Ok(limit), _) => limit,
            (Err(error), _) if matches!(error.kind, Kind::NotFinite { .. }) => return Err(error),
            (Err(_), Token::Word(state) | Token::Quoted(state)) if is_state(&measured, comparison) => {
                let (channel, symbol) = (measured.to_string(), comparison.symbol());
                return Err(
                    self.error(Kind::AlarmState { condition: format!("{channel} {symbol} {state}") }, at)
                );
            }
            (Err(_), Token::Word(_) | Token::Symbol('(') | Token::Quoted(_)) => {
                return Err(self.error(Kind::AlarmLimit, at));
            }
            (Err(error), _) => return Err(error),
        };
        if matches!(self.peek()?.token, Token::Symbol('+' | '-' | '*' | '/')) {
            return Err(self.error(Kind::AlarmLimit, at));
        }
        let mut alarm = Alarm { measured, comparison, limit, windows: 1, time: None, only: None };
        self.alarm_clauses(&mut alarm)?;
        Ok(alarm)
    }

    /// Parses the name of a channel that a comparison follows, or an expression.
    fn measured(&mut self) -> Parsed<Measured> {
        let next = self.peek()?;
        let start = next.start;
        if next.token == Token::End {
            return Err(self.error(Kind::AlarmComparison { after: "temperature".into() }, start));
        }
        let ends = |end| matches!(token(self.text, end), Ok(after) if matches!(after.token, Token::Comparison(_) | Token::End));
        match next.token {
            Token::Word(word) if ends(next.end) => {
                if let Some(word) = RESERVED.into_iter().find(|reserved| *reserved == word) {
                    return Err(self.error(Kind::Reserved { word }, start));
                }
                let channel = self.name("a channel")?;
                self.places.channels.push((channel.clone(), start));
                return Ok(Measured::Reading(channel.into()));
            }
            Token::Quoted(inside) if ends(next.end) => {
                self.name("a channel")?;
                self.places.channels.push((unquoted(inside), start));
                return Ok(Measured::Reading(unquoted(inside).into()));
            }
            _ => {}
        }
        self.places.selected.push(start);
        let Term { expression, .. } = self.sum()?;
        self.check_calls(&expression, start, 0)?;
        self.only_own_groups()?;
        for ((call, of), at) in expression.calls_of().zip(&self.places.calls) {
            if call.channels().contains(&STAR) {
                return Err(self.error(Kind::AlarmStar, *at));
            }
            if let Some(of) = of {
                return Err(self.error(Kind::AlarmScope { of: of.to_string() }, *at));
            }
            match call.of().in_alarm() {
                InAlarm::Value | InAlarm::Largest(_) | InAlarm::Smallest(_) => {}
                // It has several values, so it is the whole expression.
                InAlarm::Readings(reading) => return Ok(Measured::Reading(reading.clone())),
                InAlarm::Refused(instead) => {
                    return Err(self.error(Kind::AlarmCall { call: call.function(), instead }, *at));
                }
            }
        }
        Ok(Measured::Value(expression))
    }

    fn alarm_clauses(&mut self, alarm: &mut Alarm) -> Parsed<()> {
        let (mut counted, mut per) = (false, false);
        loop {
            let next = self.peek()?;
            let (at, word) = match next.token {
                Token::End => return Ok(()),
                Token::Word(word) => (next.start, word),
                _ => {
                    return Err(
                        self.expected("for 3 windows, for 3h, per device, where device in (…) or the end")
                    );
                }
            };
            self.end = next.end;
            match word {
                "for" => {
                    self.once("for", counted, None, at)?;
                    counted = true;
                    match self.time_of_windows() {
                        Some(time) => alarm.time = Some(time),
                        None => alarm.windows = self.windows()?,
                    }
                }
                "per" => {
                    self.once("per device", per, None, at)?;
                    self.places.clauses.push((Clause::Devices, at));
                    self.device_of_per()?;
                    per = true;
                }
                "where" => {
                    self.once("where", alarm.only.is_some(), None, at)?;
                    self.places.clauses.push((Clause::Where, at));
                    if self.accept_word("tag")? {
                        return Err(self.error(Kind::AlarmTag, at));
                    }
                    self.word("device")?;
                    self.word("in")?;
                    alarm.only = Some(self.devices()?);
                }
                word => return Err(self.error(Kind::AlarmClause { word: text::excerpt(word) }, at)),
            }
        }
    }

    /// Parses a duration, such as `90m`; returns None if there is none.
    fn time_of_windows(&mut self) -> Option<Duration> {
        let before = self.end;
        let time = self.duration().ok();
        if time.is_none() {
            self.end = before;
        }
        time
    }

    fn windows(&mut self) -> Parsed<u32> {
        let windows = self.whole(|windows| limits::ALARM_WINDOWS.contains(windows), Kind::AlarmWindows)?;
        if self.accept_word("window")? || self.accept_word("windows")? {
            return Ok(windows);
        }
        Err(self.expected("windows, as in for 3 windows (a time is written for 3h)"))
    }
}

/// Returns true if a comparison may be that of a channel with one of its states: `door = open`.
fn is_state(measured: &Measured, comparison: Comparison) -> bool {
    comparison.is_equality() && matches!(measured, Measured::Reading(Measurand::Channel(_)))
}

impl Display for Measured {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reading(reading) => reading.fmt(out),
            Self::Value(expression) => expression.fmt(out),
        }
    }
}

impl Display for Alarm {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { measured, comparison, limit, windows, time, only } = self;
        write!(out, "{measured} {} {}", comparison.symbol(), Number(*limit))?;
        if *windows > 1 {
            write!(out, " for {windows} windows")?;
        }
        time.map_or(Ok(()), |time| write!(out, " for {time}"))?;
        only.as_ref().map_or(Ok(()), |only| only_devices(only, out))
    }
}

impl std::str::FromStr for Alarm {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, QuestionError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Alarm {
    type Error = QuestionError;

    fn try_from(text: String) -> Result<Self, QuestionError> {
        Self::parse(&text)
    }
}

impl From<Alarm> for String {
    fn from(alarm: Alarm) -> Self {
        format!("{alarm}")
    }
}
