//! The grammar of calls.

use super::error::QuestionErrorKind as Kind;
use super::grammar::{Parsed, Parser};
use super::lexer::{Spanned, Token, check_length, in_file};
use super::limits;
use super::near::near;
use super::{Bins, Call, Condition, Question, Reading, Weights, display};
use sotto_program::text;
use sotto_program::text::Number;

/// The names of all functions in canonical text.
pub(super) const FUNCTIONS: [&str; 19] = [
    "count",
    "sum",
    "mean",
    "variance",
    "stddev",
    "rms",
    "energy",
    "covariance",
    "correlation",
    "regression",
    "weighted_sum",
    "moving_average",
    "min",
    "max",
    "quantile",
    "histogram",
    "time",
    "polynomial",
    "linear",
];

/// Returns the canonical name of a function; None if there is no such function.
fn function(word: &str) -> Option<&'static str> {
    let long = match word {
        "std" => "stddev",
        "var" => "variance",
        "avg" => "mean",
        "median" => "quantile",
        long => long,
    };
    FUNCTIONS.into_iter().find(|name| *name == long)
}

impl Call {
    /// Returns the name of the function, e.g. `mean`; for [`Call::Values`] `polynomial` or `linear`.
    #[must_use]
    pub const fn function(&self) -> &'static str {
        match self {
            Self::Count(_) => "count",
            Self::Sum(_) => "sum",
            Self::Mean(_) => "mean",
            Self::Variance(_) => "variance",
            Self::Stddev(_) => "stddev",
            Self::Rms(_) => "rms",
            Self::Energy(_) => "energy",
            Self::Covariance { .. } => "covariance",
            Self::Correlation { .. } => "correlation",
            Self::Regression { .. } => "regression",
            Self::WeightedSum { .. } => "weighted_sum",
            Self::MovingAverage { .. } => "moving_average",
            Self::CountWhere(_) => "count",
            Self::TimeWhere(_) => "time",
            Self::Min(_) => "min",
            Self::Max(_) => "max",
            Self::Quantile { .. } => "quantile",
            Self::Histogram { .. } => "histogram",
            Self::Values(Reading::Linear { .. }) => "linear",
            Self::Values(_) => "polynomial",
        }
    }
}

impl<'t> Parser<'t> {
    /// Parses the call that starts with `word`, the next token.
    pub(super) fn call(&mut self, word: &'t str, next: Spanned<'t>) -> Parsed<Call> {
        self.end = next.end;
        let at = next.start;
        let open = self.at('(')?;
        let Some(name) = function(word) else {
            if let (false, Token::Comparison(comparison)) = (open, self.peek()?.token) {
                return Err(self.error(Kind::Comparison { symbol: comparison.symbol() }, self.start()));
            }
            return Err(self.error(if open { unknown(word) } else { bare(word) }, at));
        };
        if !open {
            return Err(self.error(Kind::FunctionName { name }, at));
        }
        if self.places.calls.len() == limits::CALLS {
            return Err(self.error(Kind::TooMany { of: "calls", limit: limits::CALLS }, at));
        }
        self.places.calls.push(at);
        if matches!(name, "polynomial" | "linear") {
            return Ok(Call::Values(self.derived(name)?));
        }
        self.accept('(')?;
        let call = match name {
            "count" => self.count()?,
            "sum" => Call::Sum(self.reading()?),
            "mean" => Call::Mean(self.reading()?),
            "variance" => Call::Variance(self.channel()?),
            "stddev" => Call::Stddev(self.channel()?),
            "rms" => Call::Rms(self.channel()?),
            "energy" => Call::Energy(self.channel()?),
            "covariance" => {
                let (x, y) = self.two(',', "',' and a second channel, as in covariance(x, y)")?;
                Call::Covariance { x, y }
            }
            "correlation" => {
                let (x, y) = self.two(',', "',' and a second channel, as in correlation(x, y)")?;
                Call::Correlation { x, y }
            }
            "regression" => {
                let (y, x) = self.two('~', "'~' and the channel that explains, as in regression(y ~ x)")?;
                Call::Regression { y, x }
            }
            "weighted_sum" => {
                let channel = self.channel()?;
                self.expect(
                    ',',
                    "',' and weights, as in weighted_sum(x, [1, 2]) or weighted_sum(x, half_life 6h)",
                )?;
                Call::WeightedSum { channel, weights: self.weights()? }
            }
            "min" => Call::Min(self.channel()?),
            "max" => Call::Max(self.channel()?),
            "quantile" if word == "median" => Call::Quantile { channel: self.channel()?, share: 0.5 },
            "quantile" => {
                let channel = self.channel()?;
                self.expect(',', "',' and a share, as in quantile(x, 0.95)")?;
                Call::Quantile { channel, share: self.share()? }
            }
            "histogram" => {
                let channel = self.channel()?;
                self.expect(',', "',' and a number of bins or their edges, as in histogram(x, 16)")?;
                Call::Histogram { channel, bins: self.bins()? }
            }
            "time" => {
                let reading = self.reading()?;
                let expected = "a comparison with a number, as in time(x > 80)";
                Call::TimeWhere(self.condition(&reading)?.ok_or_else(|| self.expected(expected))?)
            }
            _ => {
                let channel = self.channel()?;
                self.expect(',', "',' and a number of groups, as in moving_average(x, 7)")?;
                Call::MovingAverage { channel, groups: self.groups()? }
            }
        };
        match call {
            Call::WeightedSum { .. }
            | Call::MovingAverage { .. }
            | Call::Quantile { .. }
            | Call::Histogram { .. }
            | Call::CountWhere(_)
            | Call::TimeWhere(_) => self.expect(')', "')'")?,
            _ => self.expect_after_name(')', "')'")?,
        }
        Ok(call)
    }

    /// Parses a reading, or a condition on it.
    fn count(&mut self) -> Parsed<Call> {
        let reading = self.reading()?;
        let condition = self.condition(&reading)?;
        Ok(condition.map_or(Call::Count(reading), Call::CountWhere))
    }

    /// Parses a comparison with a number, if there is one.
    fn condition(&mut self, reading: &Reading) -> Parsed<Option<Condition>> {
        let next = self.peek()?;
        let Token::Comparison(comparison) = next.token else { return Ok(None) };
        self.end = next.end;
        let limit = self.number("a number, as in count(x > 80)")?;
        Ok(Some(Condition { reading: reading.clone(), comparison, limit }))
    }

    fn share(&mut self) -> Parsed<f64> {
        let at = self.start();
        let share = self.number("a share, as in quantile(x, 0.95)")?;
        // Negative zero is outside: it has no canonical text of its own.
        let possible = (0.0..=1.0).contains(&share) && share.is_sign_positive();
        if possible { Ok(share) } else { Err(self.error(Kind::Share, at)) }
    }

    fn bins(&mut self) -> Parsed<Bins> {
        let next = self.peek()?;
        if next.token == Token::Symbol('[') {
            let at = self.start();
            let edges = self.numbers(*limits::BINS.end() as usize + 1, "edges")?;
            let ascending = edges.len() >= 2 && edges.windows(2).all(|two| two[0] < two[1]);
            return if ascending { Ok(Bins::Edges(edges)) } else { Err(self.error(Kind::Edges, at)) };
        }
        let Token::Number(Number { whole: Some(whole), .. }) = next.token else {
            return Err(self.error(Kind::Bins, next.start));
        };
        let count = u32::try_from(whole).ok().filter(|count| limits::BINS.contains(count));
        let count = count.ok_or_else(|| self.error(Kind::Bins, next.start))?;
        self.end = next.end;
        Ok(Bins::Equal(count))
    }

    fn reading(&mut self) -> Parsed<Reading> {
        let next = self.peek()?;
        if let Token::Word(word @ ("polynomial" | "linear")) = next.token {
            let before = self.end;
            self.end = next.end;
            if self.at('(')? {
                return self.derived(word);
            }
            self.end = before;
        }
        Ok(Reading::Channel(self.channel()?))
    }

    /// Parses `polynomial` or `linear` from its parenthesis on.
    fn derived(&mut self, name: &str) -> Parsed<Reading> {
        self.accept('(')?;
        if name == "linear" {
            let file = self.file()?;
            self.expect_after_name(')', "')'")?;
            return Ok(Reading::Linear { file, model: None });
        }

        let channel = self.channel()?;
        self.expect(',', "',' and coefficients, as in polynomial(x, [0, 1])")?;
        let at = self.start();
        let coefficients = self.numbers(*limits::POLYNOMIAL.end(), "coefficients")?;
        let count = coefficients.len();
        if !limits::POLYNOMIAL.contains(&count) {
            return Err(self.error(Kind::Coefficients { count }, at));
        }
        self.expect(')', "')'")?;
        Ok(Reading::Polynomial { channel, coefficients })
    }

    fn channel(&mut self) -> Parsed<String> {
        let at = self.start();
        let channel = self.name("a channel")?;
        // A character that starts no token is reported by the next reader.
        if self.at('(').unwrap_or(false) {
            return Err(self.error(Kind::NestedCall { name: text::excerpt(&channel) }, at));
        }
        self.places.channels.push((channel.clone(), at));
        Ok(channel)
    }

    fn two(&mut self, between: char, expected: &'static str) -> Parsed<(String, String)> {
        let first = self.channel()?;
        self.expect(between, expected)?;
        Ok((first, self.channel()?))
    }

    fn weights(&mut self) -> Parsed<Weights> {
        if self.accept_word("half_life")? {
            return Ok(Weights::HalfLife(self.duration()?));
        }
        if !self.at('[')? {
            return Err(self.expected("weights in brackets, as in [1, 2, 3], or half_life 6h"));
        }
        let at = self.start();
        let weights = self.numbers(limits::WEIGHTS, "weights")?;
        if weights.iter().all(|weight| *weight == 0.0) {
            return Err(self.error(Kind::ZeroWeights, at));
        }
        Ok(Weights::Each(weights))
    }

    fn groups(&mut self) -> Parsed<u32> {
        let next = self.peek()?;
        let groups = match next.token {
            Token::Number(Number { whole: Some(whole), .. }) => u32::try_from(whole).ok(),
            _ => None,
        };
        let groups = groups.filter(|groups| limits::MOVING_GROUPS.contains(groups));
        let groups = groups.ok_or_else(|| self.error(Kind::Groups, next.start))?;
        self.end = next.end;
        Ok(groups)
    }

    /// Parses at most `limit` numbers in brackets.
    fn numbers(&mut self, limit: usize, of: &'static str) -> Parsed<Vec<f64>> {
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
    pub(super) fn number(&mut self, expected: &'static str) -> Parsed<f64> {
        let negative = self.accept('-')?;
        let next = self.peek()?;
        let Token::Number(number) = next.token else {
            return Err(match next.token {
                Token::Word(word) if not_finite(word).is_some() => self.error(bare(word), next.start),
                _ => self.expected(expected),
            });
        };
        self.end = next.end;
        Ok(if negative { number.negated().real } else { number.real })
    }

    fn file(&mut self) -> Parsed<String> {
        let at = self.start();
        let file = if let Some(quoted) = self.quoted(at)? {
            quoted
        } else {
            let file = self.raw(in_file);
            if file.is_empty() {
                return Err(self.expected("the name of a file, as in linear(model.json)"));
            }
            file.into()
        };
        check_length(&file, limits::FILE_NAME_BYTES).map_err(|kind| self.error(kind, at))?;
        self.places.files.push((file.clone(), at));
        Ok(file)
    }

    /// Checks that a moving average has groups: a `by` clause other than `by window`.
    pub(super) fn check_groups(&self, question: &Question) -> Parsed<()> {
        if question.by.is_some_and(|by| by != super::By::Window) {
            return Ok(());
        }
        let mut calls = question.calls().zip(&self.places.calls);
        match calls.find(|(call, _)| matches!(call, Call::MovingAverage { .. })) {
            Some((_, at)) => Err(self.error(Kind::NoGroups, *at)),
            None => Ok(()),
        }
    }
}

fn unknown(word: &str) -> Kind {
    if word == "mode" {
        return Kind::Mode;
    }
    Kind::UnknownFunction { name: text::excerpt(word), near: near(word, &FUNCTIONS) }
}

fn bare(word: &str) -> Kind {
    match not_finite(word) {
        Some(word) => Kind::NotFinite { word },
        None => Kind::BareName { name: text::excerpt(&display::Name(word).to_string()) },
    }
}

fn not_finite(word: &str) -> Option<&'static str> {
    ["NaN", "inf", "infinity"].into_iter().find(|name| *name == word)
}
