//! Formulas of derived channels: `inlet - outlet`, `max(18 - room, 0)`.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter};
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// Largest length of a formula, in bytes.
pub const FORMULA_BYTES: usize = 512;

/// Largest depth of a formula.
const DEPTH: usize = 64;

/// A value that a device computes from readings of other channels at one time: their sums, differences and products with
/// numbers, `min`, `max` and `abs`. Without division, whose results have no range.
///
/// ```
/// use sotto_pack::Formula;
///
/// let cold: Formula = "max(18 - room, 0)".parse()?;
/// assert_eq!(cold.channels().into_iter().collect::<Vec<_>>(), ["room"]);
/// assert_eq!(cold.value(|_| 15.5), 2.5);
/// // Its range, from that of the channel.
/// assert_eq!(cold.between(|_| (-10.0, 40.0)), (0.0, 28.0));
/// assert_eq!("inlet-(outlet)".parse::<Formula>()?.to_string(), "inlet - outlet");
/// assert!("power / 2".parse::<Formula>().unwrap_err().to_string().contains("0.5 *"));
/// # Ok::<(), sotto_pack::FormulaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Formula(Node);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Channel(String),
    Negative(Box<Node>),
    Sum(Box<Node>, Box<Node>),
    Difference(Box<Node>, Box<Node>),
    Product(Box<Node>, Box<Node>),
    Least(Vec<Node>),
    Largest(Vec<Node>),
    Size(Box<Node>),
}

/// The reason why a text is no formula.
///
/// Example: [`Formula`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// The position in the text, in bytes.
    pub at: usize,
    reason: String,
}

impl Display for FormulaError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "column {}: {}", self.at + 1, self.reason)
    }
}

impl core::error::Error for FormulaError {}

impl Formula {
    /// Returns the names of its channels.
    #[must_use]
    pub fn channels(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.0.visit(&mut |node| {
            if let Node::Channel(name) = node {
                names.insert(name.as_str());
            }
        });
        names
    }

    /// Returns its value at readings of its channels.
    #[must_use]
    pub fn value(&self, reading: impl Fn(&str) -> f64) -> f64 {
        self.0.value(&reading)
    }

    /// Returns the ends of its values by interval arithmetic, from those of its channels.
    #[must_use]
    pub fn between(&self, ends: impl Fn(&str) -> (f64, f64)) -> (f64, f64) {
        self.0.between(&ends)
    }

    /// Returns true if no two channels are multiplied: then its values have the unit of its channels.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        let mut is_linear = true;
        self.0.visit(&mut |node| {
            if let Node::Product(left, right) = node {
                is_linear &= left.is_constant() || right.is_constant();
            }
        });
        is_linear
    }

    /// Returns the formula with other names of its channels.
    #[must_use]
    pub fn renamed(mut self, new: impl Fn(&str) -> String) -> Self {
        self.0.rename(&new);
        self
    }
}

impl Node {
    fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Number(_) | Self::Channel(_) => Vec::new(),
            Self::Negative(of) | Self::Size(of) => [&**of].into(),
            Self::Sum(left, right) | Self::Difference(left, right) | Self::Product(left, right) => {
                [&**left, &**right].into()
            }
            Self::Least(of) | Self::Largest(of) => of.iter().collect(),
        }
    }

    fn visit<'n>(&'n self, see: &mut impl FnMut(&'n Self)) {
        see(self);
        self.operands().into_iter().for_each(|operand| operand.visit(see));
    }

    fn is_constant(&self) -> bool {
        let mut is_constant = true;
        self.visit(&mut |node| is_constant &= !matches!(node, Self::Channel(_)));
        is_constant
    }

    fn rename(&mut self, new: &impl Fn(&str) -> String) {
        match self {
            Self::Number(_) => {}
            Self::Channel(name) => *name = new(name),
            Self::Negative(of) | Self::Size(of) => of.rename(new),
            Self::Sum(left, right) | Self::Difference(left, right) | Self::Product(left, right) => {
                left.rename(new);
                right.rename(new);
            }
            Self::Least(of) | Self::Largest(of) => of.iter_mut().for_each(|of| of.rename(new)),
        }
    }

    fn value(&self, reading: &impl Fn(&str) -> f64) -> f64 {
        let of = |node: &Self| node.value(reading);
        match self {
            Self::Number(number) => *number,
            Self::Channel(name) => reading(name),
            Self::Negative(node) => -of(node),
            Self::Sum(left, right) => of(left) + of(right),
            Self::Difference(left, right) => of(left) - of(right),
            Self::Product(left, right) => of(left) * of(right),
            Self::Least(nodes) => nodes.iter().map(of).fold(f64::INFINITY, f64::min),
            Self::Largest(nodes) => nodes.iter().map(of).fold(f64::NEG_INFINITY, f64::max),
            // `f64::abs` is not in core.
            Self::Size(node) => of(node).max(-of(node)),
        }
    }

    fn between(&self, ends: &impl Fn(&str) -> (f64, f64)) -> (f64, f64) {
        let of = |node: &Self| node.between(ends);
        let all = |nodes: &[Self], pick: fn(f64, f64) -> f64, start: f64| {
            let of_all = nodes.iter().map(of);
            of_all
                .fold((start, start), |(low, high), (least, largest)| (pick(low, least), pick(high, largest)))
        };
        match self {
            Self::Number(number) => (*number, *number),
            Self::Channel(name) => ends(name),
            Self::Negative(node) => {
                let (low, high) = of(node);
                (-high, -low)
            }
            Self::Sum(left, right) => {
                let (left, right) = (of(left), of(right));
                (left.0 + right.0, left.1 + right.1)
            }
            Self::Difference(left, right) => {
                let (left, right) = (of(left), of(right));
                (left.0 - right.1, left.1 - right.0)
            }
            Self::Product(left, right) => {
                let (x, y) = (of(left), of(right));
                let products = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
                let fold = |pick: fn(f64, f64) -> f64| products.into_iter().reduce(pick).unwrap_or_default();
                let (low, high) = (fold(f64::min), fold(f64::max));
                // A square is not below 0.
                if left == right { (low.max(0.0), high) } else { (low, high) }
            }
            Self::Least(nodes) => all(nodes, f64::min, f64::INFINITY),
            Self::Largest(nodes) => all(nodes, f64::max, f64::NEG_INFINITY),
            Self::Size(node) => {
                let (low, high) = of(node);
                (low.max(-high).max(0.0), high.max(-low))
            }
        }
    }

    /// Returns the binding strength: sums 1, products 2, a minus sign 3, others 4.
    fn strength(&self) -> u8 {
        match self {
            Self::Sum(..) | Self::Difference(..) => 1,
            Self::Product(..) => 2,
            Self::Negative(_) => 3,
            Self::Number(number) if *number < 0.0 => 3,
            _ => 4,
        }
    }
}

/// Writes an operand, in parentheses if it binds less strongly than `.1`.
struct Operand<'n>(&'n Node, u8);

impl Display for Operand<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.0.strength() >= self.1 { self.0.fmt(out) } else { write!(out, "({})", self.0) }
    }
}

impl Display for Node {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let call = |out: &mut Formatter<'_>, name: &str, of: &[Self]| {
            let of: Vec<String> = of.iter().map(Self::to_string).collect();
            write!(out, "{name}({})", of.join(", "))
        };
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Channel(name) if is_plain(name) => out.write_str(name),
            Self::Channel(name) => write!(out, "\"{name}\""),
            // The parser reads -3 as a number.
            Self::Negative(of) if matches!(**of, Self::Number(_)) => write!(out, "-({of})"),
            Self::Negative(of) => write!(out, "-{}", Operand(of, 3)),
            Self::Sum(left, right) => write!(out, "{} + {}", Operand(left, 1), Operand(right, 2)),
            Self::Difference(left, right) => write!(out, "{} - {}", Operand(left, 1), Operand(right, 2)),
            Self::Product(left, right) => write!(out, "{} * {}", Operand(left, 2), Operand(right, 3)),
            Self::Least(of) => call(out, "min", of),
            Self::Largest(of) => call(out, "max", of),
            Self::Size(of) => write!(out, "abs({of})"),
        }
    }
}

impl Display for Formula {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl From<Formula> for String {
    fn from(formula: Formula) -> Self {
        formula.to_string()
    }
}

impl TryFrom<String> for Formula {
    type Error = FormulaError;

    fn try_from(text: String) -> Result<Self, FormulaError> {
        text.parse()
    }
}

/// Returns true if a name is written without quotes.
fn is_plain(name: &str) -> bool {
    let is_first = |letter: char| letter.is_alphabetic() || letter == '_';
    name.starts_with(is_first) && name.chars().all(is_in_name)
}

fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '.'
}

impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        if text.len() > FORMULA_BYTES {
            let reason =
                format!("a formula has at most {FORMULA_BYTES} bytes: derive one channel from fewer");
            return Err(FormulaError { at: FORMULA_BYTES, reason });
        }
        let mut parser = Parser { text, at: 0, depth: 0 };
        let node = parser.sum()?;
        parser.space();
        match parser.peek() {
            None => {}
            Some('/') => {
                return Err(
                    parser.error("nothing is divided, as a quotient has no range: multiply, as in 0.5 * x")
                );
            }
            Some(_) => return Err(parser.error("expected +, -, * or the end")),
        }
        let formula = Self(node);
        if formula.channels().is_empty() {
            return Err(FormulaError {
                at: 0,
                reason: "a formula has a channel, as in max(18 - room, 0)".into(),
            });
        }
        Ok(formula)
    }
}

/// A recursive-descent parser, whose depth is bounded.
struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn accept(&mut self, symbol: char) -> bool {
        self.space();
        let is_there = self.peek() == Some(symbol);
        self.at += if is_there { symbol.len_utf8() } else { 0 };
        is_there
    }

    fn expect(&mut self, symbol: char) -> Result<(), FormulaError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.error(&format!("expected '{symbol}'"))) }
    }

    fn error(&self, reason: &str) -> FormulaError {
        FormulaError { at: self.at, reason: reason.into() }
    }

    fn sum(&mut self) -> Result<Node, FormulaError> {
        let mut left = self.product()?;
        // Each operator is a level of the tree.
        let depth = self.depth;
        loop {
            if self.accept('+') {
                left = Node::Sum(Box::new(left), Box::new(self.product()?));
            } else if self.accept('-') {
                left = Node::Difference(Box::new(left), Box::new(self.product()?));
            } else {
                self.depth = depth;
                return Ok(left);
            }
            self.deeper()?;
        }
    }

    fn product(&mut self) -> Result<Node, FormulaError> {
        let mut left = self.unary()?;
        let depth = self.depth;
        while self.accept('*') {
            left = Node::Product(Box::new(left), Box::new(self.unary()?));
            self.deeper()?;
        }
        self.depth = depth;
        Ok(left)
    }

    fn deeper(&mut self) -> Result<(), FormulaError> {
        self.depth += 1;
        if self.depth > DEPTH { Err(self.error("this is nested too deeply")) } else { Ok(()) }
    }

    fn unary(&mut self) -> Result<Node, FormulaError> {
        self.deeper()?;
        let node = if self.accept('-') {
            match self.unary()? {
                Node::Number(number) if number >= 0.0 => Node::Number(-number),
                node => Node::Negative(Box::new(node)),
            }
        } else {
            self.operand()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn operand(&mut self) -> Result<Node, FormulaError> {
        if self.accept('(') {
            let node = self.sum()?;
            self.expect(')')?;
            return Ok(node);
        }
        if self.accept('"') {
            let rest = &self.text[self.at..];
            let end = rest.find('"').ok_or_else(|| self.error("expected '\"'"))?;
            let name = rest[..end].to_string();
            self.at += end + 1;
            return Ok(Node::Channel(name));
        }
        let start = self.at;
        let rest = &self.text[start..];
        match self.peek() {
            Some(first) if first.is_ascii_digit() || first == '.' => {
                let is_part = |(at, letter): &(usize, char)| {
                    let after_e = *at > 0 && matches!(rest.as_bytes()[at - 1], b'e' | b'E');
                    letter.is_ascii_digit()
                        || matches!(letter, '.' | 'e' | 'E')
                        || (after_e && matches!(letter, '+' | '-'))
                };
                let length = rest.char_indices().take_while(is_part).count();
                let number = rest[..length].parse::<f64>().ok().filter(|number| number.is_finite());
                let number = number.ok_or_else(|| self.error("expected a finite number"))?;
                self.at += length;
                Ok(Node::Number(number))
            }
            Some(first) if first.is_alphabetic() || first == '_' => {
                let end = rest.find(|letter| !is_in_name(letter)).unwrap_or(rest.len());
                self.at += end;
                let name = &rest[..end];
                if self.accept('(') { self.call(name, start) } else { Ok(Node::Channel(name.to_string())) }
            }
            _ => Err(self.error("expected a channel, a number, min(…), max(…), abs(…) or '('")),
        }
    }

    fn call(&mut self, name: &str, start: usize) -> Result<Node, FormulaError> {
        let mut of = [self.sum()?].to_vec();
        while self.accept(',') {
            of.push(self.sum()?);
        }
        self.expect(')')?;
        match (name, of.len()) {
            ("min", 2..) => Ok(Node::Least(of)),
            ("max", 2..) => Ok(Node::Largest(of)),
            ("abs", 1) => Ok(Node::Size(Box::new(of.remove(0)))),
            ("min" | "max", _) => Err(FormulaError {
                at: start,
                reason: format!("{name} has two values or more, as in {name}(x, 0)"),
            }),
            ("abs", _) => Err(FormulaError { at: start, reason: "abs has one value".into() }),
            _ => Err(FormulaError {
                at: start,
                reason: format!("no function is called {name}: expected min, max or abs"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(text: &str) -> Formula {
        text.parse().expect("a formula")
    }

    #[test]
    fn texts_are_read_and_written_the_same() {
        for (text, written) in [
            ("a-b", "a - b"),
            ("a - (b - c)", "a - (b - c)"),
            ("(a - b) - c", "a - b - c"),
            ("2*(a+b)*c", "2 * (a + b) * c"),
            ("a * (b * c)", "a * (b * c)"),
            ("-a - -3", "-a - -3"),
            ("-(3) + a", "-3 + a"),
            ("a * -(b + 1)", "a * -(b + 1)"),
            ("min(a, max(b, 1e3, -2.5e-3))", "min(a, max(b, 1000, -0.0025))"),
            ("abs(\"water flow\" - größe.1)", "abs(\"water flow\" - größe.1)"),
            ("max", "max"),
        ] {
            let read = formula(text);
            assert_eq!(read.to_string(), written, "{text}");
            assert_eq!(formula(written), read, "{text}");
            let json = serde_json::to_string(&read).expect("JSON");
            assert_eq!(serde_json::from_str::<Formula>(&json).expect("the same"), read);
        }
    }

    #[test]
    fn texts_that_are_none_are_refused_where_the_fault_is() {
        for (text, at, word) in [
            ("", 0, "expected a channel"),
            ("3 + 4", 0, "has a channel"),
            ("a / b", 2, "0.5 * x"),
            ("a b", 2, "expected +"),
            ("a -", 3, "expected a channel"),
            ("(a", 2, "')'"),
            ("max(a)", 0, "two values"),
            ("abs(a, b)", 0, "one value"),
            ("sqrt(a)", 0, "no function is called sqrt"),
            ("1e999 * a", 0, "finite"),
            ("\"a", 1, "expected '\"'"),
        ] {
            let error = text.parse::<Formula>().expect_err(text);
            assert!(error.at == at && error.to_string().contains(word), "{text}: {error}");
        }
        for text in [
            "(".repeat(400) + "a",
            "-".repeat(400) + "a",
            "a".to_owned() + &"+a".repeat(200),
            "a*".repeat(100) + "a",
        ] {
            assert!(text.parse::<Formula>().expect_err("too deep").to_string().contains("too deeply"));
        }
        assert!("a".repeat(600).parse::<Formula>().is_err());
    }

    #[test]
    fn values_lie_between_the_ends() {
        let readings = [-7.5, -1.0, 0.0, 0.25, 3.0];
        for text in [
            "a - b",
            "a * b",
            "a * a - 2 * b",
            "max(a, b, -a)",
            "min(abs(a), b * b)",
            "abs(a + 1) * -b",
            "max(3 - a, 0)",
        ] {
            let formula = formula(text);
            for (low, high) in [(0, 4), (0, 2), (2, 4), (1, 3)] {
                let (least, largest) = formula.between(|_| (readings[low], readings[high]));
                for a in &readings[low..=high] {
                    for b in &readings[low..=high] {
                        let value = formula.value(|name| if name == "a" { *a } else { *b });
                        assert!(
                            (least..=largest).contains(&value),
                            "{text}: {value} of {least} to {largest}"
                        );
                    }
                }
            }
        }
        assert!(formula("2 * a - b").is_linear() && !formula("max(a * b, 0)").is_linear());
        let renamed = formula("a - b").renamed(|name| format!("{name}-1"));
        assert_eq!(renamed.to_string(), "\"a-1\" - \"b-1\"");
    }
}
