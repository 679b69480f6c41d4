//! Functions along groups: `cumulative(energy(power))`, `ewma(mean(x), 0.3)`. Each takes the values of one call in the
//! groups of the `by` clause, in order of time.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};
use sotto_program::text;

use super::{WithDevices, words};
use crate::functions::Call;
use crate::language::{
    Duration, Number, Parsed, Parser, QuestionErrorKind as Kind, Scope, Spanned, Token, limits, token,
};

/// A call, and a function of its values along the groups of the `by` clause.
///
/// ```
/// use sotto_owner::question::{Along, By, Call, Question};
///
/// let question = Question::select(Along::cumulative(Call::energy("power")).named("so_far")).by(By::Day).build()?;
/// assert_eq!(question.to_string(), "cumulative(energy(power)) as so_far by day");
/// assert_eq!(question.calls().next(), Some(&Call::energy("power")));
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Along {
    /// The function of the values.
    pub function: AlongGroups,
    /// The call, with one value in each group.
    pub of: Call,
    /// The devices that the call names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Scope>,
}

/// A function of values along groups.
///
/// Example: [`Along`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlongGroups {
    /// The sum of the values up to this group.
    Cumulative,
    /// The value less that of the group before.
    Difference,
    /// The value over the time of the group, in seconds.
    Rate,
    /// The exponentially weighted mean of the values up to this group.
    Ewma(Decay),
}

/// How fast the weights of an exponentially weighted mean fall.
///
/// Example: [`Along`]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decay {
    /// By the factor 1 − alpha from each group to the one before it. Range: above 0, at most 1.
    Alpha(f64),
    /// By half for each such time between the beginnings of groups.
    HalfLife(Duration),
}

impl AlongGroups {
    /// The words of the language.
    pub const WORDS: [&'static str; 4] = words::ALONG;

    /// Returns the word of the language.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Cumulative => "cumulative",
            Self::Difference => "difference",
            Self::Rate => "rate",
            Self::Ewma(_) => "ewma",
        }
    }

    /// Returns the word that was probably meant, by one of other tools.
    pub(super) fn near(word: &str) -> Option<&'static str> {
        Some(match word {
            "cumsum" | "cumulative_sum" | "cum_sum" | "running_total" | "running_sum" => "cumulative",
            "diff" | "delta" | "lag" => "difference",
            "derivative" | "per_second" | "irate" => "rate",
            "ewm" | "ema" | "exponential_moving_average" | "smooth" => "ewma",
            _ => return None,
        })
    }
}

impl Along {
    /// Returns `cumulative(of)`.
    #[must_use]
    pub fn cumulative(of: Call) -> Self {
        Self { function: AlongGroups::Cumulative, of, devices: None }
    }

    /// Returns `difference(of)`.
    #[must_use]
    pub fn difference(of: Call) -> Self {
        Self { function: AlongGroups::Difference, of, devices: None }
    }

    /// Returns `rate(of)`.
    #[must_use]
    pub fn rate(of: Call) -> Self {
        Self { function: AlongGroups::Rate, of, devices: None }
    }

    /// Returns `ewma(of, decay)`.
    #[must_use]
    pub fn ewma(of: Call, decay: Decay) -> Self {
        Self { function: AlongGroups::Ewma(decay), of, devices: None }
    }
}

impl Display for Along {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}({}", self.function.word(), WithDevices(&self.of, self.devices.as_ref()))?;
        match self.function {
            AlongGroups::Ewma(decay) => write!(out, ", {decay})"),
            _ => out.write_str(")"),
        }
    }
}

impl Display for Decay {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alpha(alpha) => Number(*alpha).fmt(out),
            Self::HalfLife(time) => write!(out, "half_life {time}"),
        }
    }
}

impl<'t> Parser<'t> {
    /// Parses a function along groups, if `word`, the next token, names one.
    // Apart, so that the frames of parentheses in one another stay small.
    #[inline(never)]
    pub(super) fn along(&mut self, word: &'t str, next: Spanned<'t>) -> Parsed<Option<Along>> {
        let Some(function) = AlongGroups::WORDS.into_iter().find(|known| *known == word) else {
            return Ok(None);
        };
        self.end = next.end;
        if !self.accept('(')? {
            let arguments = if function == "ewma" { "mean(x), 0.3" } else { "mean(x)" };
            return Err(self.error(Kind::FunctionName { name: function, arguments }, next.start));
        }
        self.places.along.push((function, next.start));
        let inner = self.peek()?;
        let is_call = matches!(token(self.text, inner.end), Ok(after) if after.token == Token::Symbol('('));
        let one_call = |parser: &Self, at| parser.error(Kind::AlongCall { function }, at);
        let (of, devices) = match inner.token {
            Token::Word(words::TARIFF) if is_call => {
                return Err(self.error(Kind::AlongTariff { function }, inner.start));
            }
            Token::Word(word) if is_call && !AlongGroups::WORDS.contains(&word) => self.call(word, inner)?,
            _ => return Err(one_call(self, inner.start)),
        };
        if of.is_vector() {
            let kind = Kind::VectorInArithmetic { call: of.function(), instead: of.instead() };
            return Err(self.error(kind, inner.start));
        }
        let after = self.peek()?;
        if matches!(after.token, Token::Symbol('+' | '-' | '*' | '/')) {
            return Err(one_call(self, after.start));
        }
        let function = match function {
            "cumulative" => AlongGroups::Cumulative,
            "difference" => AlongGroups::Difference,
            "rate" => AlongGroups::Rate,
            _ => AlongGroups::Ewma(self.decay()?),
        };
        self.close()?;
        Ok(Some(Along { function, of, devices }))
    }

    /// Refuses values of other groups, which an alarm has none of.
    pub(super) fn only_own_groups(&self) -> Parsed<()> {
        let refused = |call, instead, at| Err(self.error(Kind::AlarmCall { call, instead }, at));
        if let Some(at) = self.places.tariffs.first() {
            return refused(words::TARIFF, "compare the amount itself, as energy(power) > 5000", *at);
        }
        match (self.places.along.first(), self.places.offsets.first()) {
            (Some((call, at)), _) => refused(*call, "take the call alone, and for 3 windows", *at),
            (None, Some(at)) => {
                refused("offset", "take the call alone: an alarm has no group of a week ago", *at)
            }
            (None, None) => Ok(()),
        }
    }

    fn decay(&mut self) -> Parsed<Decay> {
        let expected = "',' and a factor above 0 up to 1, or a half-life, as in ewma(mean(x), 0.3) or ewma(mean(x), half_life 3d)";
        self.expect(',', expected)?;
        if self.accept_word("half_life")? {
            return Ok(Decay::HalfLife(self.duration()?));
        }
        let at = self.start();
        let alpha = self.number(expected)?;
        if alpha > 0.0 && alpha <= 1.0 { Ok(Decay::Alpha(alpha)) } else { Err(self.error(Kind::Alpha, at)) }
    }
}

/// Returns the error for a word that names no function.
pub(super) fn unknown(word: &str, near: Option<&'static str>, known: &[&str]) -> Kind {
    let near = AlongGroups::near(word).or(near);
    let name: String = text::excerpt(word).chars().take(limits::NAME_BYTES).collect();
    Kind::UnknownFunction { name, near, known: known.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions;

    #[test]
    fn a_word_along_groups_names_no_other_function_and_has_a_row_in_the_page() {
        let page = include_str!("../../../../docs/concepts/questions.md");
        for word in AlongGroups::WORDS {
            assert!(functions::named(word).is_none(), "{word}");
            assert!(page.contains(&format!("| `{word}(")), "{word} has no row");
        }
    }
}
