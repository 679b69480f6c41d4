//! Costs: `tariff(energy(power), tariff.toml)`. The time is divided where prices change, and the value of each part has its
//! price.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::{Question, WithDevices, words};
use crate::functions::Call;
use crate::gathered::Need;
use crate::language::{
    By, Clause, File, Parsed, Parser, QuestionErrorKind as Kind, Scope, Spanned, Tariff, Token, token,
};

/// The cost of a call's value by a tariff.
///
/// ```
/// use sotto_owner::question::{Call, Priced, Question};
///
/// let question = Question::select(Priced::new(Call::energy("power"), "tariff.toml").named("cost")).build()?;
/// assert_eq!(question.to_string(), "tariff(energy(power), tariff.toml) as cost");
/// assert_eq!(question.missing_tariffs().into_iter().collect::<Vec<_>>(), ["tariff.toml"]);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Priced {
    /// The call, whose values add up.
    pub of: Call,
    /// The devices that the call names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Scope>,
    /// The file's name, as written. This crate does not open it.
    pub file: String,
    /// The tariff, set by [`Question::attach_tariff`]. Parsed text never has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tariff: Option<Tariff>,
}

impl Priced {
    /// The word of the language.
    pub const WORD: &'static str = words::TARIFF;

    /// Returns `tariff(of, file)`.
    #[must_use]
    pub fn new(of: Call, file: impl Into<String>) -> Self {
        Self { of, devices: None, file: file.into(), tariff: None }
    }
}

impl Display for Priced {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let of = WithDevices(&self.of, self.devices.as_ref());
        write!(out, "{}({of}, {})", Self::WORD, File(&self.file))
    }
}

impl<'t> Parser<'t> {
    /// Parses a cost, if `word`, the next token, begins one.
    // Apart, so that the frames of parentheses in one another stay small.
    #[inline(never)]
    pub(super) fn priced(&mut self, word: &'t str, next: Spanned<'t>) -> Parsed<Option<Priced>> {
        if word != Priced::WORD {
            return Ok(None);
        }
        self.end = next.end;
        if !self.accept('(')? {
            let kind = Kind::FunctionName { name: Priced::WORD, arguments: "energy(power), tariff.toml" };
            return Err(self.error(kind, next.start));
        }
        self.places.tariffs.push(next.start);
        let inner = self.peek()?;
        let is_call = matches!(token(self.text, inner.end), Ok(after) if after.token == Token::Symbol('('));
        let (of, devices) = match inner.token {
            Token::Word(word) if is_call && !words::ALONG.contains(&word) && word != Priced::WORD => {
                self.call(word, inner)?
            }
            Token::Word(word) => {
                return Err(self.error(Kind::TariffCall { call: word.to_owned() }, inner.start));
            }
            _ => return Err(self.expected("a call such as energy(power)")),
        };
        if of.of().adds_up().is_none() {
            return Err(self.error(Kind::TariffCall { call: of.to_string() }, inner.start));
        }
        let expected = "',' and the file of a tariff, as in tariff(energy(power), tariff.toml)";
        self.expect(',', expected)?;
        let file = self.file("the file of a tariff, as tariff.toml")?;
        self.close()?;
        let offset = self.start();
        if self.accept_word("offset")? {
            return Err(self.error(Kind::TariffOffset, offset));
        }
        Ok(Some(Priced { of, devices, file, tariff: None }))
    }

    /// Refuses costs by window, and beside calls that need a time without gaps.
    pub(super) fn check_tariffs(&self, question: &Question) -> Parsed<()> {
        let Some(first) = self.places.tariffs.first() else { return Ok(()) };
        if question.by == Some(By::Window) {
            let by = self.places.clauses.iter().find(|(here, _)| *here == Clause::By);
            return Err(self.error(Kind::TimesOfWindows, by.map_or(*first, |(_, at)| *at)));
        }
        let is_torn = |call: &Call| {
            let follows = |need: &Need| need.is_weighted() || matches!(need, Need::Readings { .. });
            call.of().needs_days() || call.needs().iter().any(follows)
        };
        let mut calls = question.calls().zip(&self.places.calls);
        match calls.find(|(call, _)| is_torn(call)) {
            Some((call, at)) => {
                let clause = "the tariff, and ask for it by itself";
                Err(self.error(Kind::TornTime { call: call.function(), clause }, *at))
            }
            None => Ok(()),
        }
    }
}
