//! A recursive-descent parser from tokens to nodes. [`limits::NESTING`] bounds the recursion.

use alloc::vec::Vec;

use super::error::{ParseError, ParseErrorKind};
use super::lexer::{Spanned, Token, token};
use super::literals::Sources;
use super::{ParseOptions, ParsedExpression};
use crate::text::Number;
use crate::{NodeId, ProgramBuilder, limits};

const VALUE: &str = "a number, a name, a function, '(' or '['";

pub(super) fn parse(text: &str, options: &ParseOptions) -> Result<ParsedExpression, ParseError> {
    if text.len() > limits::EXPRESSION_BYTES {
        let kind = ParseErrorKind::TooLong { bytes: text.len() };
        return Err(ParseError::new(kind, text, text.floor_char_boundary(limits::EXPRESSION_BYTES)));
    }
    let next = token(text, 0).map_err(|(kind, at)| ParseError::new(kind, text, at))?;
    if next.token == Token::End {
        return Err(ParseError::new(ParseErrorKind::Empty, text, text.len()));
    }
    let mut asked = ProgramBuilder::new();
    let sources = Sources::new(options, &mut asked);
    let mut parser = Parser { text, options, next, nesting: 0, asked, sources };
    let result = parser.sum()?;
    if parser.next.token != Token::End {
        return Err(parser.expected("an operator (+ - * ^) or the end"));
    }
    let Parser { mut asked, sources, .. } = parser;
    sources.name_literals(&mut asked);
    asked.output("result", result);
    let program = asked.finish().map_err(|refused| ParseError::new(refused.into(), text, 0))?;
    Ok(ParsedExpression { program, literal_inputs: sources.literal_inputs })
}

struct Parser<'t> {
    text: &'t str,
    options: &'t ParseOptions,
    /// The next token.
    next: Spanned<'t>,
    nesting: usize,
    asked: ProgramBuilder,
    sources: Sources<'t>,
}

impl<'t> Parser<'t> {
    fn sum(&mut self) -> Result<NodeId, ParseError> {
        let mut total = self.product()?;
        loop {
            let minus = self.at('-');
            if !minus && !self.at('+') {
                return Ok(total);
            }
            let operator = self.take()?;
            let term = self.product()?;
            total = if minus { self.asked.sub(total, term) } else { self.asked.add(total, term) };
            self.bounded(operator.start)?;
        }
    }

    fn product(&mut self) -> Result<NodeId, ParseError> {
        let mut product = self.unary()?;
        while self.at('*') {
            let operator = self.take()?;
            let factor = self.unary()?;
            product = self.asked.mul(product, factor);
            self.bounded(operator.start)?;
        }
        Ok(product)
    }

    /// Parses any number of minus signs; an even number cancels out.
    fn unary(&mut self) -> Result<NodeId, ParseError> {
        let (start, mut negative) = (self.next.start, false);
        while self.at('-') {
            self.take()?;
            negative = !negative;
        }
        let mut value = self.power()?;
        if negative {
            value = self.asked.neg(value);
            self.bounded(start)?;
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<NodeId, ParseError> {
        let base = self.value()?;
        if !self.at('^') {
            return Ok(base);
        }
        self.take()?;
        let at = self.next.start;
        let exponent = match self.next.token {
            Token::Number(Number { whole: Some(whole), .. }) => u32::try_from(whole).ok(),
            _ => None,
        };
        let exponent = exponent.filter(|exponent| *exponent <= limits::EXPONENT);
        let exponent = exponent.ok_or_else(|| self.error(ParseErrorKind::Exponent, at))?;
        self.take()?;
        if self.at('^') {
            return Err(self.error(ParseErrorKind::PowerOfPower, self.next.start));
        }
        let power = self.asked.power(base, exponent);
        self.bounded(at)?;
        Ok(power)
    }

    fn value(&mut self) -> Result<NodeId, ParseError> {
        let Spanned { token, start, end } = self.next;
        let node = match token {
            Token::Number(number) => {
                self.take()?;
                self.literal(&[number], start, end)?
            }
            Token::Name(name) => self.name(name)?,
            Token::Symbol('(') => {
                self.take()?;
                let inside = self.nested(start, Self::sum)?;
                self.expect(')', "an operator (+ - * ^) or ')'")?;
                inside
            }
            Token::Symbol('[') => {
                self.take()?;
                self.vector(start)?
            }
            _ => return Err(self.expected(VALUE)),
        };
        self.bounded(start)?;
        Ok(node)
    }

    fn vector(&mut self, start: usize) -> Result<NodeId, ParseError> {
        let mut numbers = Vec::new();
        loop {
            if numbers.len() == limits::VECTOR {
                return Err(self.error(ParseErrorKind::VectorTooLong, self.next.start));
            }
            numbers.push(self.signed("a number, as in [1, 2, 3]")?);
            if !self.at(',') {
                break;
            }
            self.take()?;
        }
        let end = self.expect(']', "',' or ']'")?.end;
        self.literal(&numbers, start, end)
    }

    fn name(&mut self, name: &'t str) -> Result<NodeId, ParseError> {
        let start = self.take()?.start;
        let is_function = matches!(name, "sum" | "rotate");
        match (is_function, self.at('(')) {
            (true, false) => Err(self.error(ParseErrorKind::FunctionName { name: name.into() }, start)),
            (true, true) => {
                self.take()?;
                self.nested(start, |parser| if name == "sum" { parser.sum_of() } else { parser.rotation() })
            }
            (false, true) => {
                let name = crate::text::excerpt(name);
                Err(self.error(ParseErrorKind::UnknownFunction { name }, start))
            }
            (false, false) => {
                let node = self.sources.named(name, &mut self.asked);
                node.map_err(|kind| self.error(kind, start))
            }
        }
    }

    /// Parses the rest of `sum(`.
    fn sum_of(&mut self) -> Result<NodeId, ParseError> {
        let of = self.sum()?;
        let mut at = self.next.start;
        let mut width = self.options.sum_width.ok_or(ParseErrorKind::NoWidth);
        if self.at(',') {
            self.take()?;
            at = self.next.start;
            let written = self.public_whole(ParseErrorKind::Width)?;
            width = u32::try_from(written).map_err(|_| ParseErrorKind::Width);
        }
        let possible = |width: &u32| width.is_power_of_two() && *width <= limits::SUM_WIDTH;
        let width = width.and_then(|width| Some(width).filter(possible).ok_or(ParseErrorKind::Width));
        let width = width.map_err(|kind| self.error(kind, at))?;
        self.expect(')', "an operator (+ - * ^), ', width' or ')'")?;
        Ok(self.asked.sum(of, width))
    }

    /// Parses the rest of `rotate(`.
    fn rotation(&mut self) -> Result<NodeId, ParseError> {
        let of = self.sum()?;
        self.expect(',', "an operator (+ - * ^) or ', steps'")?;
        let at = self.next.start;
        let steps = i32::try_from(self.public_whole(ParseErrorKind::Steps)?).ok();
        let steps = steps.filter(|steps| steps.unsigned_abs() <= limits::ROTATION);
        let steps = steps.ok_or_else(|| self.error(ParseErrorKind::Steps, at))?;
        self.expect(')', "')'")?;
        Ok(self.asked.rotate(of, steps))
    }

    /// Parses a literal whole number with an optional sign. Any other number gives the error `otherwise`.
    fn public_whole(&mut self, otherwise: ParseErrorKind) -> Result<i128, ParseError> {
        let at = self.next.start;
        let number = self.signed("a whole number")?;
        number.whole.ok_or_else(|| self.error(otherwise, at))
    }

    fn signed(&mut self, expected: &'static str) -> Result<Number, ParseError> {
        let negative = self.at('-');
        if negative {
            self.take()?;
        }
        let Token::Number(number) = self.next.token else {
            return Err(self.expected(expected));
        };
        self.take()?;
        Ok(if negative { number.negated() } else { number })
    }

    fn literal(&mut self, numbers: &[Number], start: usize, end: usize) -> Result<NodeId, ParseError> {
        let node = self.sources.literal(numbers, &self.text[start..end], &mut self.asked);
        node.map_err(|kind| self.error(kind, start))
    }

    /// Parses the inside of a parenthesis that opened at byte `start`.
    fn nested(
        &mut self,
        start: usize,
        inside: impl FnOnce(&mut Self) -> Result<NodeId, ParseError>,
    ) -> Result<NodeId, ParseError> {
        if self.nesting == limits::NESTING {
            return Err(self.error(ParseErrorKind::Nesting, start));
        }
        self.nesting += 1;
        let node = inside(self)?;
        self.nesting -= 1;
        Ok(node)
    }

    fn at(&self, symbol: char) -> bool {
        self.next.token == Token::Symbol(symbol)
    }

    /// Returns the next token and advances.
    fn take(&mut self) -> Result<Spanned<'t>, ParseError> {
        let taken = self.next;
        self.next = token(self.text, taken.end).map_err(|(kind, at)| self.error(kind, at))?;
        Ok(taken)
    }

    fn expect(&mut self, symbol: char, expected: &'static str) -> Result<Spanned<'t>, ParseError> {
        if self.at(symbol) { self.take() } else { Err(self.expected(expected)) }
    }

    /// Refuses a program with more than [`limits::NODES`] nodes; the error is at byte `at`.
    fn bounded(&self, at: usize) -> Result<(), ParseError> {
        if self.asked.len() > limits::NODES { Err(self.error(ParseErrorKind::Nodes, at)) } else { Ok(()) }
    }

    fn expected(&self, expected: &'static str) -> ParseError {
        let found = self.next.token.found();
        self.error(ParseErrorKind::Expected { expected, found }, self.next.start)
    }

    fn error(&self, kind: ParseErrorKind, at: usize) -> ParseError {
        ParseError::new(kind, self.text, at)
    }
}
