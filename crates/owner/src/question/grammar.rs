//! A recursive-descent parser from tokens to a question. Only parentheses recurse; [`limits::NESTING`] bounds them.

use std::collections::BTreeSet;

use super::error::QuestionErrorKind as Kind;
use super::lexer::{RESERVED, Spanned, Token, check_length, skip_space, token, unquoted};
use super::limits;
use super::{Duration, Expression, Places, Question, QuestionError, Selected, When, display};
use sotto_program::text;
use sotto_program::text::run;

pub(super) type Parsed<T> = Result<T, QuestionError>;

const VALUE: &str = "a function such as mean(temperature), a number or '('";

/// Parses a text of any length.
pub(super) fn question(text: &str) -> Parsed<(Question, Places)> {
    let mut parser = Parser::new(text);
    if parser.peek()?.token == Token::End {
        return Err(parser.error(Kind::Empty, text.len()));
    }
    let select = parser.select()?;
    let clauses = parser.clauses()?;
    let question = clauses.question(select);
    parser.check_groups(&question)?;
    Ok((question, parser.places))
}

/// Parses a text that consists of one duration.
pub(super) fn duration(text: &str) -> Parsed<Duration> {
    let mut parser = Parser::new(text);
    let duration = parser.duration()?;
    parser.end("the end").map(|()| duration)
}

/// Parses a text that consists of one moment without quotes.
pub(super) fn when(text: &str) -> Parsed<When> {
    if is_when(text) { Ok(When(text.into())) } else { Err(QuestionError::new(Kind::When, text, 0)) }
}

pub(super) use super::clauses::is_when;

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    /// End of the last token read.
    pub(super) end: usize,
    nesting: usize,
    pub(super) places: Places,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, end: 0, nesting: 0, places: Places::new(text) }
    }

    fn select(&mut self) -> Parsed<Vec<Selected>> {
        let mut select = Vec::new();
        let mut names = BTreeSet::new();
        loop {
            let start = self.start();
            if select.len() == limits::SELECTED {
                return Err(
                    self.error(Kind::TooMany { of: "selected expressions", limit: limits::SELECTED }, start)
                );
            }
            self.places.selected.push(start);
            let first_call = self.places.calls.len();
            let (expression, _) = self.sum()?;
            self.check_calls(&expression, start, first_call)?;
            let mut named_at = start;
            let mut name = None;
            if self.accept_word("as")? {
                named_at = self.start();
                name = Some(self.name("a name for the result")?);
            }
            let selected = Selected { expression, name };
            if !names.insert(selected.name()) {
                let name = text::excerpt(&selected.name());
                return Err(self.error(Kind::NameTwice { name }, named_at));
            }
            select.push(selected);
            if !self.accept(',')? {
                return Ok(select);
            }
        }
    }

    /// Checks that an expression has a call, and that a call with several values stands alone.
    pub(super) fn check_calls(&self, expression: &Expression, start: usize, first_call: usize) -> Parsed<()> {
        let places = &self.places.calls[first_call..];
        if places.is_empty() {
            return Err(self.error(Kind::NoCall, start));
        }
        if matches!(expression, Expression::Call(_)) {
            return Ok(());
        }
        match expression.calls().zip(places).find(|(call, _)| call.is_vector()) {
            Some((call, at)) => Err(self.error(Kind::VectorInArithmetic { call: call.function() }, *at)),
            None => Ok(()),
        }
    }

    /// Parses a sum. Returns the expression and its depth.
    pub(super) fn sum(&mut self) -> Parsed<(Expression, usize)> {
        let mut total = self.product()?;
        loop {
            let operator = self.peek()?;
            let make = match operator.token {
                Token::Symbol('+') => Expression::Add,
                Token::Symbol('-') => Expression::Subtract,
                _ => return Ok(total),
            };
            self.end = operator.end;
            let term = self.product()?;
            total = self.both(make, total, term, operator.start)?;
        }
    }

    fn product(&mut self) -> Parsed<(Expression, usize)> {
        let mut product = self.unary()?;
        loop {
            let operator = self.peek()?;
            let make = match operator.token {
                Token::Symbol('*') => Expression::Multiply,
                Token::Symbol('/') => Expression::Divide,
                _ => return Ok(product),
            };
            self.end = operator.end;
            let at = self.start();
            let factor = self.unary()?;
            if operator.token == Token::Symbol('/') && factor.0 == Expression::Number(0.0) {
                return Err(self.error(Kind::DivisionByZero, at));
            }
            product = self.both(make, product, factor, operator.start)?;
        }
    }

    fn both(
        &self,
        make: fn(Box<Expression>, Box<Expression>) -> Expression,
        left: (Expression, usize),
        right: (Expression, usize),
        at: usize,
    ) -> Parsed<(Expression, usize)> {
        let depth = self.bounded(left.1.max(right.1) + 1, at)?;
        Ok((make(left.0.into(), right.0.into()), depth))
    }

    /// Parses minus signs and a value. A sign directly before a number belongs to the number.
    fn unary(&mut self) -> Parsed<(Expression, usize)> {
        let start = self.start();
        let mut signs = 0;
        while self.accept('-')? {
            signs = self.bounded(signs + 1, start)?;
        }
        let next = self.peek()?;
        let (mut value, mut depth) = match next.token {
            Token::Number(number) if signs > 0 => {
                self.end = next.end;
                signs -= 1;
                (Expression::Number(number.negated().real), 1)
            }
            _ => self.value(next)?,
        };
        depth = self.bounded(depth + signs, start)?;
        for _ in 0..signs {
            value = Expression::Negate(value.into());
        }
        Ok((value, depth))
    }

    fn value(&mut self, next: Spanned<'t>) -> Parsed<(Expression, usize)> {
        match next.token {
            Token::Number(number) => {
                self.end = next.end;
                Ok((Expression::Number(number.real), 1))
            }
            Token::Symbol('(') => {
                if self.nesting == limits::NESTING {
                    return Err(self.error(Kind::Nesting, next.start));
                }
                self.end = next.end;
                self.nesting += 1;
                let inside = self.sum()?;
                self.nesting -= 1;
                self.expect(')', "an operator (+ - * /) or ')'")?;
                Ok(inside)
            }
            Token::Word(word) if !RESERVED.contains(&word) => {
                let call = self.call(word, next)?;
                Ok((Expression::Call(call), 1))
            }
            Token::Quoted(inside) => {
                let name: String = unquoted(inside).chars().take(limits::NAME_BYTES).collect();
                Err(self.error(Kind::BareName { name: display::Name(&name).to_string() }, next.start))
            }
            _ => Err(self.expected(VALUE)),
        }
    }

    fn bounded(&self, depth: usize, at: usize) -> Parsed<usize> {
        if depth > limits::QUESTION_DEPTH { Err(self.error(Kind::Depth, at)) } else { Ok(depth) }
    }

    /// Parses a name, bare or in quotes.
    pub(super) fn name(&mut self, expected: &'static str) -> Parsed<String> {
        let Spanned { token, start, end } = self.peek()?;
        let name = match token {
            Token::Word(word) => {
                if let Some(word) = RESERVED.into_iter().find(|reserved| *reserved == word) {
                    return Err(self.error(Kind::Reserved { word }, start));
                }
                word.into()
            }
            Token::Quoted(inside) => unquoted(inside),
            _ => return Err(self.expected(expected)),
        };
        check_length(&name, limits::NAME_BYTES).map_err(|kind| self.error(kind, start))?;
        self.end = end;
        Ok(name)
    }

    /// Returns the next token without advancing.
    pub(super) fn peek(&self) -> Parsed<Spanned<'t>> {
        token(self.text, self.end).map_err(|(kind, at)| self.error(kind, at))
    }

    /// Returns the byte where the next token starts.
    pub(super) fn start(&self) -> usize {
        skip_space(self.text, self.end)
    }

    /// Reads the bytes that satisfy `of`, regardless of tokens. May be empty.
    pub(super) fn raw(&mut self, of: impl Fn(u8) -> bool) -> &'t str {
        let start = self.start();
        self.end = run(self.text.as_bytes(), start, of);
        &self.text[start..self.end]
    }

    /// Reads the quoted text that starts at byte `at`. Returns None if there are no quotes.
    pub(super) fn quoted(&mut self, at: usize) -> Parsed<Option<String>> {
        if !self.text[at..].starts_with('"') {
            return Ok(None);
        }
        let next = self.peek()?;
        self.end = next.end;
        Ok(match next.token {
            Token::Quoted(inside) => Some(unquoted(inside)),
            _ => None,
        })
    }

    pub(super) fn at(&self, symbol: char) -> Parsed<bool> {
        Ok(self.peek()?.token == Token::Symbol(symbol))
    }

    pub(super) fn accept(&mut self, symbol: char) -> Parsed<bool> {
        self.accept_token(Token::Symbol(symbol))
    }

    pub(super) fn accept_word(&mut self, word: &'static str) -> Parsed<bool> {
        self.accept_token(Token::Word(word))
    }

    fn accept_token(&mut self, token: Token<'_>) -> Parsed<bool> {
        let next = self.peek()?;
        let here = next.token == token;
        if here {
            self.end = next.end;
        }
        Ok(here)
    }

    pub(super) fn expect(&mut self, symbol: char, expected: &'static str) -> Parsed<()> {
        if self.accept(symbol)? { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Like `expect`, after a name.
    pub(super) fn expect_after_name(&mut self, symbol: char, expected: &'static str) -> Parsed<()> {
        if self.accept(symbol)? {
            return Ok(());
        }
        let next = self.peek()?;
        if matches!(next.token, Token::Comparison(_)) {
            return Err(self.expected(expected));
        }
        Err(self.error(Kind::AfterName { expected, found: next.token.found() }, next.start))
    }

    pub(super) fn end(&self, expected: &'static str) -> Parsed<()> {
        if self.peek()?.token == Token::End { Ok(()) } else { Err(self.expected(expected)) }
    }

    pub(super) fn expected(&self, expected: &'static str) -> QuestionError {
        match self.peek() {
            Ok(Spanned { token: Token::Comparison(comparison), start, .. }) => {
                self.error(Kind::Comparison { symbol: comparison.symbol() }, start)
            }
            Ok(next) => self.error(Kind::Expected { expected, found: next.token.found() }, next.start),
            Err(refused) => refused,
        }
    }

    pub(super) fn error(&self, kind: Kind, at: usize) -> QuestionError {
        QuestionError::new(kind, self.text, at)
    }
}
