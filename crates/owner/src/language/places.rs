//! Places of calls, channels and clauses in the text of a question.

use super::{QuestionError, QuestionErrorKind};

/// A clause of a question.
///
/// Example: [`TextSpans`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// `over`, `during`, `since` or `until`.
    Period,
    /// `by`.
    By,
    /// `per device` or `across devices`.
    Devices,
    /// `where`.
    Where,
    /// `time`, `weekday` or `month` of `where`.
    Times,
    /// `shared`.
    Shared,
}

/// Places in the text of a question, so that a later check can draw errors like the parser.
///
/// An error about a part that the text lacks is drawn at the end of the text.
///
/// ```
/// use sotto_owner::question::{Clause, Question};
///
/// let (_, places) = Question::parse_with_places("mean(boiler) by day")?;
/// let error = places.error_at_clause(Clause::By, "no window is as short as a day");
/// assert_eq!(error.to_string(), "\
/// column 14: no window is as short as a day
///     mean(boiler) by day
///                  ^");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TextSpans {
    pub(crate) text: String,
    pub(crate) selected: Vec<usize>,
    pub(crate) calls: Vec<usize>,
    /// Functions along groups.
    pub(crate) along: Vec<(&'static str, usize)>,
    pub(crate) offsets: Vec<usize>,
    pub(crate) tariffs: Vec<usize>,
    pub(crate) channels: Vec<(String, usize)>,
    pub(crate) files: Vec<(String, usize)>,
    pub(crate) devices: Vec<(String, usize)>,
    pub(crate) tags: Vec<(String, usize)>,
    pub(crate) clauses: Vec<(Clause, usize)>,
}

impl TextSpans {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            selected: Vec::new(),
            calls: Vec::new(),
            along: Vec::new(),
            offsets: Vec::new(),
            tariffs: Vec::new(),
            channels: Vec::new(),
            files: Vec::new(),
            devices: Vec::new(),
            tags: Vec::new(),
            clauses: Vec::new(),
        }
    }

    /// Returns the question as it was typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Draws `message` at the first mention of a channel. A channel that occurs only in a linear model is drawn at its
    /// file.
    #[must_use]
    pub fn error_at_channel(&self, channel: &str, message: impl Into<String>) -> QuestionError {
        let file = self.files.first().map(|(_, at)| *at);
        self.error(first(&self.channels, channel).or(file), message)
    }

    /// Draws `message` at a call, counted from 0 in the order of [`Question::calls`](crate::question::Question::calls).
    #[must_use]
    pub fn error_at_call(&self, index: usize, message: impl Into<String>) -> QuestionError {
        self.error(self.calls.get(index).copied(), message)
    }

    /// Returns true if the text has this call, counted from 0.
    pub(crate) fn has_call(&self, index: usize) -> bool {
        index < self.calls.len()
    }

    /// Draws `message` at a selected expression, counted from 0.
    #[must_use]
    pub fn error_at_selected(&self, index: usize, message: impl Into<String>) -> QuestionError {
        self.error(self.selected.get(index).copied(), message)
    }

    /// Draws `message` at the first mention of a linear model's file.
    #[must_use]
    pub fn error_at_file(&self, file: &str, message: impl Into<String>) -> QuestionError {
        self.error(first(&self.files, file), message)
    }

    /// Draws `message` at the first mention of a tag.
    #[must_use]
    pub fn error_at_tag(&self, tag: &str, message: impl Into<String>) -> QuestionError {
        self.error(first(&self.tags, tag), message)
    }

    /// Draws `message` at the first mention of a device.
    #[must_use]
    pub fn error_at_device(&self, device: &str, message: impl Into<String>) -> QuestionError {
        self.error(first(&self.devices, device), message)
    }

    /// Draws `message` at the first word of a clause.
    #[must_use]
    pub fn error_at_clause(&self, clause: Clause, message: impl Into<String>) -> QuestionError {
        let place = self.clauses.iter().find(|(here, _)| *here == clause);
        self.error(place.map(|(_, at)| *at), message)
    }

    fn error(&self, place: Option<usize>, message: impl Into<String>) -> QuestionError {
        let kind = QuestionErrorKind::Later { message: message.into() };
        QuestionError::new(kind, &self.text, place.unwrap_or(self.text.len()))
    }
}

fn first(places: &[(String, usize)], name: &str) -> Option<usize> {
    places.iter().find(|(here, _)| here == name).map(|(_, at)| *at)
}
