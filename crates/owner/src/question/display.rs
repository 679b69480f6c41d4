//! Canonical text. Parsing it returns the same question, except for attached models.

use std::fmt::{self, Display, Formatter, Write};

use super::lexer::{is_bare_file, is_bare_name};
use super::{
    Bins, Call, Condition, Devices, Duration, Expression, Period, Question, Reading, Selected, Weights, When,
    grammar,
};

/// Writes a name, in quotes if it needs them.
pub(super) struct Name<'n>(pub(super) &'n str);

impl Display for Name<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if is_bare_name(self.0) { out.write_str(self.0) } else { quoted(self.0, out) }
    }
}

fn quoted(text: &str, out: &mut Formatter<'_>) -> fmt::Result {
    out.write_char('"')?;
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            out.write_char('\\')?;
        }
        out.write_char(character)?;
    }
    out.write_char('"')
}

struct File<'n>(&'n str);

impl Display for File<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if is_bare_file(self.0) { out.write_str(self.0) } else { quoted(self.0, out) }
    }
}

/// Writes the shortest decimal that reads back as the same float.
pub(super) struct Number(pub(super) f64);

impl Display for Number {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let plain = size == 0.0 || (1e-5..1e16).contains(&size) || !size.is_finite();
        if plain { write!(out, "{}", self.0) } else { write!(out, "{:e}", self.0) }
    }
}

/// Writes items with ", " between them.
fn list<T: Display>(items: impl IntoIterator<Item = T>, out: &mut Formatter<'_>) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(out, "{comma}{item}")?;
    }
    Ok(())
}

/// Writes the clause that names devices, after a space.
pub(super) fn only(devices: &[String], out: &mut Formatter<'_>) -> fmt::Result {
    out.write_str(" where device in (")?;
    list(devices.iter().map(|device| Name(device)), out)?;
    out.write_char(')')
}

struct Numbers<'n>(&'n [f64]);

impl Display for Numbers<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_char('[')?;
        list(self.0.iter().map(|number| Number(*number)), out)?;
        out.write_char(']')
    }
}

impl Display for Reading {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(channel) => Name(channel).fmt(out),
            Self::Polynomial { channel, coefficients } => {
                write!(out, "polynomial({}, {})", Name(channel), Numbers(coefficients))
            }
            Self::Linear { file, .. } => write!(out, "linear({})", File(file)),
        }
    }
}

impl Display for Call {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(reading) => write!(out, "count({reading})"),
            Self::Sum(reading) => write!(out, "sum({reading})"),
            Self::Mean(reading) => write!(out, "mean({reading})"),
            Self::Variance(x) => write!(out, "variance({})", Name(x)),
            Self::Stddev(x) => write!(out, "stddev({})", Name(x)),
            Self::Rms(x) => write!(out, "rms({})", Name(x)),
            Self::Energy(x) => write!(out, "energy({})", Name(x)),
            Self::Covariance { x, y } => write!(out, "covariance({}, {})", Name(x), Name(y)),
            Self::Correlation { x, y } => write!(out, "correlation({}, {})", Name(x), Name(y)),
            Self::Regression { y, x } => write!(out, "regression({} ~ {})", Name(y), Name(x)),
            Self::WeightedSum { channel, weights: Weights::Each(weights) } => {
                write!(out, "weighted_sum({}, {})", Name(channel), Numbers(weights))
            }
            Self::WeightedSum { channel, weights: Weights::HalfLife(time) } => {
                write!(out, "weighted_sum({}, half_life {time})", Name(channel))
            }
            Self::MovingAverage { channel, groups } => {
                write!(out, "moving_average({}, {groups})", Name(channel))
            }
            Self::Values(reading) => reading.fmt(out),
            Self::CountWhere(condition) => write!(out, "count({condition})"),
            Self::TimeWhere(condition) => write!(out, "time({condition})"),
            Self::Min(x) => write!(out, "min({})", Name(x)),
            Self::Max(x) => write!(out, "max({})", Name(x)),
            Self::Quantile { channel, share } => {
                write!(out, "quantile({}, {})", Name(channel), Number(*share))
            }
            Self::Histogram { channel, bins: Bins::Equal(count) } => {
                write!(out, "histogram({}, {count})", Name(channel))
            }
            Self::Histogram { channel, bins: Bins::Edges(edges) } => {
                write!(out, "histogram({}, {})", Name(channel), Numbers(edges))
            }
        }
    }
}

impl Display for Condition {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}", self.reading, self.comparison.symbol(), Number(self.limit))
    }
}

/// Returns the binding strength: sums 1, products 2, a minus sign 3, calls and numbers 4.
const fn strength(expression: &Expression) -> u8 {
    match expression {
        Expression::Add(..) | Expression::Subtract(..) => 1,
        Expression::Multiply(..) | Expression::Divide(..) => 2,
        Expression::Negate(_) => 3,
        Expression::Number(_) | Expression::Call(_) => 4,
    }
}

/// Writes an operand, in parentheses if it binds less strongly than `.1`.
struct Operand<'e>(&'e Expression, u8);

impl Display for Operand<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if strength(self.0) >= self.1 { self.0.fmt(out) } else { write!(out, "({})", self.0) }
    }
}

impl Display for Expression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (left, sign, right) = match self {
            Self::Number(number) => return Number(*number).fmt(out),
            Self::Call(call) => return call.fmt(out),
            // The parser reads -3 as a number, so the negative of 3 is -(3).
            Self::Negate(of) => match **of {
                Self::Number(number) if number.is_sign_positive() => return write!(out, "-({of})"),
                _ => return write!(out, "-{}", Operand(of, 3)),
            },
            Self::Add(left, right) => (left, '+', right),
            Self::Subtract(left, right) => (left, '-', right),
            Self::Multiply(left, right) => (left, '*', right),
            Self::Divide(left, right) => (left, '/', right),
        };
        let strength = strength(self);
        write!(out, "{} {sign} {}", Operand(left, strength), Operand(right, strength + 1))
    }
}

impl Display for Selected {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.expression.fmt(out)?;
        self.name.iter().try_for_each(|name| write!(out, " as {}", Name(name)))
    }
}

impl Display for Duration {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.count, self.unit.letter())
    }
}

impl Display for When {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if grammar::is_when(&self.0) { out.write_str(&self.0) } else { quoted(&self.0, out) }
    }
}

impl Display for Period {
    /// Writes the clauses, each after a space.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => Ok(()),
            Self::Over(time) => write!(out, " over {time}"),
            Self::Between { since, until } => {
                since.iter().try_for_each(|when| write!(out, " since {when}"))?;
                until.iter().try_for_each(|when| write!(out, " until {when}"))
            }
        }
    }
}

impl Display for Question {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        list(&self.select, out)?;
        self.period.fmt(out)?;
        self.by.iter().try_for_each(|by| write!(out, " by {}", by.word()))?;
        if self.grouping == Devices::Each {
            out.write_str(" per device")?;
        }
        if let Some(devices) = &self.only {
            only(devices, out)?;
        }
        if self.shared {
            out.write_str(" shared")?;
        }
        Ok(())
    }
}
