//! A builder of questions.

use super::{Along, ExactScheme, Expression, Offset, Priced, Question, Selected};
use crate::functions::Call;
use crate::language::{
    By, Devices, Duration, Period, QuestionError, QuestionErrorKind as Kind, RankedBy, Ranking, Times, When,
};

/// Builds a [`Question`]; [`Question::select`] starts one. If a clause is given twice, the last one counts.
///
/// ```
/// use sotto_owner::question::{By, Call, Question};
///
/// let question = Question::select(Call::mean("boiler"))
///     .since("2014-01-01")
///     .by(By::Day)
///     .only(["kitchen", "attic"])
///     .build()?;
/// let text = "mean(boiler) since 2014-01-01 by day where device in (kitchen, attic)";
/// assert_eq!(question.to_string(), text);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "only build makes a question"]
pub struct QuestionBuilder {
    /// The question; its period is in the fields below until `build`.
    question: Question,
    over: Option<Duration>,
    since: Option<When>,
    until: Option<When>,
}

impl QuestionBuilder {
    pub(super) fn new(first: Selected) -> Self {
        let question = Question {
            select: vec![first],
            ranking: None,
            period: Period::All,
            by: None,
            grouping: Devices::Across,
            only: None,
            tags: Vec::new(),
            times: Times::default(),
            shared: false,
            scheme: None,
            remarks: Vec::new(),
        };
        Self { question, over: None, since: None, until: None }
    }

    /// Adds a result.
    pub fn and(mut self, selected: impl Into<Selected>) -> Self {
        self.question.select.push(selected.into());
        self
    }

    /// Covers only the last `time`. Excludes `since` and `until`.
    pub fn over(mut self, time: Duration) -> Self {
        self.over = Some(time);
        self
    }

    /// Starts at a moment, e.g. `2014-01-01` or `2014-01-01T12:30Z`.
    pub fn since(mut self, moment: impl Into<String>) -> Self {
        self.since = Some(When(moment.into()));
        self
    }

    /// Ends before a moment, e.g. `2014-01-01` or `2014-01-01T12:30Z`.
    pub fn until(mut self, moment: impl Into<String>) -> Self {
        self.until = Some(When(moment.into()));
        self
    }

    /// Asks for one answer for each group of windows.
    pub fn by(mut self, by: By) -> Self {
        self.question.by = Some(by);
        self
    }

    /// Asks for one answer for each device.
    pub fn per_device(mut self) -> Self {
        self.question.grouping = Devices::Each;
        self
    }

    /// Keeps the first devices alone, in the order of the first result.
    pub fn ranked(mut self, by: RankedBy, devices: u32) -> Self {
        self.question.ranking = Some(Ranking { by, devices });
        self.per_device()
    }

    /// Asks for one answer for each tag of devices and channels.
    pub fn per_tag(mut self) -> Self {
        self.question.grouping = Devices::Tag;
        self
    }

    /// Asks for one answer over all devices. This is the default.
    pub fn across_devices(mut self) -> Self {
        self.question.grouping = Devices::Across;
        self
    }

    /// Restricts the question to these devices.
    pub fn only<D: Into<String>>(mut self, devices: impl IntoIterator<Item = D>) -> Self {
        self.question.only = Some(devices.into_iter().map(Into::into).collect());
        self
    }

    /// Restricts the question to readings whose device or channel has one of these tags.
    pub fn tagged<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.question.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// Restricts the question to readings at these times.
    pub fn at(mut self, times: Times) -> Self {
        self.question.times = times;
        self
    }

    /// Declares that answers are given to others: see [`Question::shared`].
    pub fn shared(mut self) -> Self {
        self.question.shared = true;
        self
    }

    /// States the scheme of exact results: see [`Question::scheme`].
    pub fn under(mut self, scheme: ExactScheme) -> Self {
        self.question.scheme = Some(scheme);
        self
    }

    /// Returns the question without a period, not checked.
    pub(super) fn unchecked(self) -> Question {
        self.question
    }

    /// Checks the question like the parser, and returns it.
    ///
    /// # Errors
    /// [`QuestionError`], which points into the canonical text.
    pub fn build(self) -> Result<Question, QuestionError> {
        let Self { mut question, over, since, until } = self;
        question.period = match (over, since, until) {
            (None, None, None) => Period::All,
            (Some(time), None, None) => Period::Over(time),
            (None, since, until) => Period::Between { since, until },
            (Some(time), since, _) => {
                let other = if since.is_some() { "since" } else { "until" };
                let kind = Kind::ClauseExcluded { clause: "over", other };
                let text = Period::Over(time).to_string();
                return Err(QuestionError::new(kind, &text, text.len() - text.trim_start().len()));
            }
        };
        question.check()?;
        Ok(question)
    }
}

impl From<Expression> for Selected {
    fn from(expression: Expression) -> Self {
        Self { expression, unit: None, name: None }
    }
}

impl From<Call> for Selected {
    fn from(call: Call) -> Self {
        Expression::Call(call).into()
    }
}

impl From<Along> for Selected {
    fn from(along: Along) -> Self {
        Expression::Along(along).into()
    }
}

impl From<Offset> for Selected {
    fn from(offset: Offset) -> Self {
        Expression::Offset(offset).into()
    }
}

impl From<Priced> for Selected {
    fn from(priced: Priced) -> Self {
        Expression::Priced(priced).into()
    }
}
