//! Checks of a question that was not parsed: it is written as canonical text, which is parsed.

use std::collections::BTreeMap;

use serde::Deserialize;
use sotto_program::text;

use super::{ExactScheme, Question, Selected, grammar};
use crate::functions::Call;
use crate::language::{
    By, Dates, Devices, LinearModel, Measurand, Period, QuestionError, QuestionErrorKind as Kind, Ranking,
    TextSpans, Times, limits,
};

/// A [`Question`] in its JSON form. Only `select` is required.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Unchecked {
    select: Vec<Selected>,
    #[serde(default)]
    ranking: Option<Ranking>,
    #[serde(default)]
    period: Period,
    #[serde(default)]
    by: Option<By>,
    #[serde(default)]
    grouping: Devices,
    #[serde(default)]
    only: Option<Vec<String>>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    times: Times,
    #[serde(default)]
    shared: bool,
    #[serde(default)]
    scheme: Option<ExactScheme>,
}

impl TryFrom<Unchecked> for Question {
    type Error = QuestionError;

    fn try_from(from: Unchecked) -> Result<Self, QuestionError> {
        let Unchecked { select, ranking, period, by, grouping, only, tags, times, shared, scheme } = from;
        // A ranking is one of devices.
        let grouping = if ranking.is_some() { Devices::Each } else { grouping };
        let remarks = Vec::new();
        let question =
            Self { select, ranking, period, by, grouping, only, tags, times, shared, scheme, remarks };
        question.check()?;
        Ok(question)
    }
}

impl Question {
    /// Checks a question whose fields were changed. Performs the parser's checks, except for the length of the text.
    ///
    /// # Errors
    /// [`QuestionError`], which points into the canonical text.
    pub fn check(&self) -> Result<(), QuestionError> {
        self.places().map(|_| ())
    }

    /// Checks the question like [`Question::check`], and returns the places of its parts in its canonical text.
    ///
    /// # Errors
    /// [`QuestionError`], which points into the canonical text.
    pub fn places(&self) -> Result<TextSpans, QuestionError> {
        // Checked before anything recurses.
        if self.select.iter().any(|selected| selected.expression.depth() > limits::QUESTION_DEPTH) {
            return Err(QuestionError::new(Kind::Depth, "…", 0));
        }
        let text = self.to_string();
        if self.period == (Period::Between { since: None, until: None }) {
            return Err(QuestionError::new(Kind::EmptyPeriod, &text, text.len()));
        }
        let (read, places) = grammar::question(&text)?;
        self.check_models(&places)?;
        if let Some(scheme) = self.scheme.filter(|_| !self.has_exact_results()) {
            return Err(QuestionError::new(Kind::NoExactResult { scheme: scheme.word() }, &text, 0));
        }
        // Neither models nor tariffs nor days of files nor the scheme are in the text.
        let mut written = Self { scheme: None, remarks: Vec::new(), ..self.clone() };
        written.change_models(&mut |_, model| *model = None);
        written.change_tariffs(&mut |_, tariff| *tariff = None);
        if let Some((_, days)) = written.times.dates.as_mut().and_then(Dates::slot) {
            *days = None;
        }
        if read != written {
            return Err(QuestionError::new(Kind::NotCanonical, &text, text.len()));
        }
        Ok(places)
    }
    /// Checks the attached models: they are valid, and each file has one.
    fn check_models(&self, places: &TextSpans) -> Result<(), QuestionError> {
        let mut attached = BTreeMap::new();
        let readings = self.calls().filter_map(Call::reading).filter_map(|reading| match reading {
            Measurand::Linear { file, model } => Some((file, model)),
            Measurand::Channel(_) | Measurand::Polynomial { .. } => None,
        });
        for ((file, model), (_, at)) in readings.zip(&places.files) {
            let refused = |kind| QuestionError::new(kind, &places.text, *at);
            if *attached.entry(file).or_insert(model) != model {
                return Err(refused(Kind::TwoModels { file: text::excerpt(file) }));
            }
            model.iter().try_for_each(LinearModel::check).map_err(|kind| refused(kind.into()))?;
        }
        Ok(())
    }
}
