//! The parser's operands: channels, readings, conditions, numbers, files.

use sotto_program::text;

use super::error::QuestionErrorKind as Kind;
use super::lexer::{Token, check_length, in_file, unquoted};
use super::parser::{Parsed, Parser};
use super::written::Name;
use super::{Comparison, Condition, Measurand, limits};

impl Parser<'_> {
    /// Parses a comparison with a number or a state, if there is one.
    pub(crate) fn condition(&mut self, reading: &Measurand) -> Parsed<Option<Condition>> {
        let next = self.peek()?;
        let Token::Comparison(comparison) = next.token else { return Ok(None) };
        self.end = next.end;
        if comparison.is_equality() && !matches!(reading, Measurand::Channel(_)) {
            return Err(self.error(Kind::EqualityOfReal, next.start));
        }
        let of = self.peek()?;
        let state = match of.token {
            Token::Word(word) if comparison.is_equality() => Some(word.to_owned()),
            Token::Quoted(inside) if comparison.is_equality() => Some(unquoted(inside)),
            _ => None,
        };
        if let Some(state) = state {
            self.end = of.end;
            check_length(&state, limits::NAME_BYTES).map_err(|kind| self.error(kind, of.start))?;
            let reading = reading.clone();
            return Ok(Some(Condition { reading, comparison, limit: 0.0, state: Some(state), from: None }));
        }
        let limit = self.number(if comparison.is_equality() {
            "a number or a state, as in count(x = 80) or time(x = open)"
        } else {
            "a number, as in count(x > 80)"
        })?;
        if self.accept_word("and")? {
            return Err(self.error(Kind::Between, next.start));
        }
        Ok(Some(Condition::new(reading.clone(), comparison, limit)))
    }

    /// Parses a reading and a comparison of it, if there is one: `x > 80`, `60 <= x <= 79`.
    pub(crate) fn compared(&mut self) -> Parsed<(Measurand, Option<Condition>)> {
        if matches!(self.peek()?.token, Token::Number(_) | Token::Symbol('-')) {
            let condition = self.between()?;
            return Ok((condition.reading.clone(), Some(condition)));
        }
        let reading = self.reading()?;
        let condition = self.condition(&reading)?;
        Ok((reading, condition))
    }

    /// Parses a condition between two numbers, the smaller one first.
    fn between(&mut self) -> Parsed<Condition> {
        let at = self.start();
        let low = self.number("a number, as in count(60 <= x <= 79)")?;
        let from = self.below(at)?;
        let reading = self.reading()?;
        let comparison = self.below(at)?;
        let high = self.number("a number, as in count(60 <= x <= 79)")?;
        let closed = (from, comparison) == (Comparison::AtMost, Comparison::AtMost);
        if low > high || (low == high && !closed) {
            return Err(self.error(Kind::Between, at));
        }
        Ok(Condition::new(reading, comparison, high).and_from(from.turned(), low))
    }

    /// Reads `<` or `<=` of a condition that begins at `at`.
    fn below(&mut self, at: usize) -> Parsed<Comparison> {
        let next = self.peek()?;
        match next.token {
            Token::Comparison(comparison @ (Comparison::Less | Comparison::AtMost)) => {
                self.end = next.end;
                Ok(comparison)
            }
            _ => Err(self.error(Kind::Between, at)),
        }
    }

    /// Parses a channel, a polynomial or a linear model.
    pub(crate) fn reading(&mut self) -> Parsed<Measurand> {
        let next = self.peek()?;
        if let Token::Word(word @ ("polynomial" | "linear")) = next.token {
            let before = self.end;
            self.end = next.end;
            if self.accept('(')? {
                return self.derived(word);
            }
            self.end = before;
        }
        Ok(Measurand::Channel(self.channel()?))
    }

    /// Parses the arguments of `polynomial` or `linear`, to the closing parenthesis.
    pub(crate) fn derived(&mut self, name: &str) -> Parsed<Measurand> {
        if name == "linear" {
            let file = self.file("the name of a file, as in linear(model.json)")?;
            self.close_after_name()?;
            return Ok(Measurand::Linear { file, model: None });
        }
        let channel = self.channel()?;
        self.expect(',', "',' and coefficients, as in polynomial(x, [0, 1])")?;
        let at = self.start();
        let coefficients = self.numbers(*limits::POLYNOMIAL.end(), "coefficients")?;
        let count = coefficients.len();
        if !limits::POLYNOMIAL.contains(&count) {
            return Err(self.error(Kind::Coefficients { count }, at));
        }
        self.close()?;
        Ok(Measurand::Polynomial { channel, coefficients })
    }

    /// Parses the name of a channel.
    pub(crate) fn channel(&mut self) -> Parsed<String> {
        let at = self.start();
        let channel = self.name("a channel")?;
        // A character that starts no token is reported by the next reader.
        if self.at('(').unwrap_or(false) {
            return Err(self.error(Kind::NestedCall { name: text::excerpt(&channel) }, at));
        }
        self.places.channels.push((channel.clone(), at));
        let scope = self.scope()?;
        self.scopes.push((scope, at));
        Ok(channel)
    }

    /// Parses at most `limit` numbers in brackets.
    pub(crate) fn numbers(&mut self, limit: usize, of: &'static str) -> Parsed<Vec<f64>> {
        self.expect('[', "numbers in brackets, as in [1, 2, 3]")?;
        let mut numbers = Vec::new();
        loop {
            if numbers.len() == limit {
                return Err(self.error(Kind::TooMany { of, limit }, self.start()));
            }
            numbers.push(self.number("a number, as in [1, 2, 3]")?);
            if !self.accept(',')? {
                self.expect(']', "',' or ']'")?;
                return Ok(numbers);
            }
        }
    }

    /// Parses a finite number with its sign.
    pub(crate) fn number(&mut self, expected: &'static str) -> Parsed<f64> {
        let negative = self.accept('-')?;
        let next = self.peek()?;
        let Token::Number(number) = next.token else {
            return Err(match next.token {
                Token::Word(word) if not_finite(word).is_some() => {
                    self.error(outside_of_a_call(word), next.start)
                }
                _ => self.expected(expected),
            });
        };
        self.end = next.end;
        Ok(if negative { number.negated().real } else { number.real })
    }

    /// Parses the name of a file.
    pub(crate) fn file(&mut self, expected: &'static str) -> Parsed<String> {
        let at = self.start();
        let file = if let Some(quoted) = self.quoted(at)? {
            quoted
        } else {
            let file = self.raw(in_file);
            if file.is_empty() {
                return Err(self.expected(expected));
            }
            file.into()
        };
        check_length(&file, limits::FILE_NAME_BYTES).map_err(|kind| self.error(kind, at))?;
        self.places.files.push((file.clone(), at));
        Ok(file)
    }

    /// Parses a whole number that satisfies `fits`, else refuses it with `kind`.
    pub(crate) fn whole(&mut self, fits: impl Fn(&u32) -> bool, kind: Kind) -> Parsed<u32> {
        let next = self.peek()?;
        let whole = match next.token {
            Token::Number(number) => number.whole.and_then(|whole| u32::try_from(whole).ok()),
            _ => None,
        };
        match whole.filter(fits) {
            Some(whole) => {
                self.end = next.end;
                Ok(whole)
            }
            None => Err(self.error(kind, next.start)),
        }
    }
}

/// Returns the error for a word outside of a call.
pub(crate) fn outside_of_a_call(word: &str) -> Kind {
    match not_finite(word) {
        Some(word) => Kind::NotFinite { word },
        None => Kind::BareName { name: text::excerpt(&Name(word).to_string()) },
    }
}

fn not_finite(word: &str) -> Option<&'static str> {
    ["NaN", "inf", "infinity"].into_iter().find(|name| *name == word)
}
