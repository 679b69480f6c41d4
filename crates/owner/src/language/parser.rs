//! The parser's ground: tokens, names, errors with their places.

use std::str::FromStr;

use sotto_program::text::{excerpt, run};

use super::error::{QuestionError, QuestionErrorKind as Kind};
use super::lexer::{RESERVED, Spanned, Token, check_length, skip_space, token, unquoted};
use super::places::TextSpans;
use super::{Duration, DurationUnit, Scope, When, is_when, limits};

pub(crate) type Parsed<T> = Result<T, QuestionError>;

/// Reads a text from left to right, and notes the places of its parts.
pub(crate) struct Parser<'t> {
    pub(crate) text: &'t str,
    /// End of the last token read.
    pub(crate) end: usize,
    /// Number of open parentheses.
    pub(crate) nesting: usize,
    pub(crate) places: TextSpans,
    /// For each channel read as an operand, the devices behind it, and its place.
    pub(super) scopes: Vec<(Option<Scope>, usize)>,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, end: 0, nesting: 0, places: TextSpans::new(text), scopes: Vec::new() }
    }

    /// Returns the number of channels read as operands.
    pub(crate) fn operands(&self) -> usize {
        self.scopes.len()
    }

    /// Parses a name, bare or in quotes.
    pub(crate) fn name(&mut self, expected: &'static str) -> Parsed<String> {
        let Spanned { token, start, end } = self.peek()?;
        let name = match token {
            Token::Word(word) => {
                if let Some(word) = RESERVED.into_iter().find(|reserved| *reserved == word) {
                    return Err(self.error(Kind::Reserved { word }, start));
                }
                word.into()
            }
            Token::Quoted(inside) => unquoted(inside),
            // Every channel; nothing else is called so.
            Token::Symbol('*') => "*".into(),
            _ => return Err(self.expected(expected)),
        };
        check_length(&name, limits::NAME_BYTES).map_err(|kind| self.error(kind, start))?;
        self.end = end;
        Ok(name)
    }

    /// Returns the next token without advancing.
    pub(crate) fn peek(&self) -> Parsed<Spanned<'t>> {
        token(self.text, self.end).map_err(|(kind, at)| self.error(kind, at))
    }

    /// Returns the byte where the next token starts.
    pub(crate) fn start(&self) -> usize {
        skip_space(self.text, self.end)
    }

    /// Reads the bytes that satisfy `of`, regardless of tokens. May be empty.
    pub(crate) fn raw(&mut self, of: impl Fn(u8) -> bool) -> &'t str {
        let start = self.start();
        self.end = run(self.text.as_bytes(), start, of);
        &self.text[start..self.end]
    }

    /// Reads the quoted text that starts at byte `at`. Returns None if there are no quotes.
    pub(crate) fn quoted(&mut self, at: usize) -> Parsed<Option<String>> {
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

    pub(crate) fn at(&self, symbol: char) -> Parsed<bool> {
        Ok(self.peek()?.token == Token::Symbol(symbol))
    }

    pub(crate) fn accept(&mut self, symbol: char) -> Parsed<bool> {
        self.accept_token(Token::Symbol(symbol))
    }

    pub(crate) fn accept_word(&mut self, word: &'static str) -> Parsed<bool> {
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

    pub(crate) fn expect(&mut self, symbol: char, expected: &'static str) -> Parsed<()> {
        if self.accept(symbol)? { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Like `expect`, after a name.
    pub(crate) fn expect_after_name(&mut self, symbol: char, expected: &'static str) -> Parsed<()> {
        if self.accept(symbol)? {
            return Ok(());
        }
        let next = self.peek()?;
        if matches!(next.token, Token::Comparison(_)) {
            return Err(self.expected(expected));
        }
        Err(self.error(Kind::AfterName { expected, found: next.token.found() }, next.start))
    }

    /// Reads the parenthesis after arguments.
    pub(crate) fn close(&mut self) -> Parsed<()> {
        self.expect(')', "')'")
    }

    /// Reads the parenthesis after arguments that end with a name.
    pub(crate) fn close_after_name(&mut self) -> Parsed<()> {
        self.expect_after_name(')', "')'")
    }

    pub(crate) fn end(&self, expected: &'static str) -> Parsed<()> {
        if self.peek()?.token == Token::End { Ok(()) } else { Err(self.expected(expected)) }
    }

    pub(crate) fn expected(&self, expected: &'static str) -> QuestionError {
        match self.peek() {
            Ok(Spanned { token: Token::Comparison(_), start, .. }) if expected == "in" => {
                self.error(Kind::NameDevices, start)
            }
            Ok(Spanned { token: Token::Comparison(comparison), start, .. }) => {
                self.error(Kind::Comparison { symbol: comparison.symbol() }, start)
            }
            Ok(next) => {
                let start = self.word_start(next.start);
                let found = if start < next.start {
                    excerpt(&self.text[start..next.end])
                } else {
                    next.token.found()
                };
                self.error(Kind::Expected { expected, found }, start)
            }
            Err(refused) => refused,
        }
    }

    /// Makes an error at a byte, or at the beginning of the word that it is in.
    pub(crate) fn error(&self, kind: Kind, at: usize) -> QuestionError {
        QuestionError::new(kind, self.text, self.word_start(at))
    }

    /// Returns the beginning of the word that a byte is in: `3d` is one to a reader, and a number and a word to the lexer.
    fn word_start(&self, at: usize) -> usize {
        let in_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let bytes = self.text.as_bytes();
        let before = bytes.get(at).filter(in_word).map(|_| bytes[..at].iter().rev().take_while(in_word));
        at - before.map_or(0, Iterator::count)
    }

    /// Reads a duration, e.g. `7d`.
    pub(crate) fn duration(&mut self) -> Parsed<Duration> {
        let at = self.start();
        let written = self.raw(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
        let read = || {
            let (count, letter) = written.split_at_checked(written.len().checked_sub(1)?)?;
            let unit = DurationUnit::ALL.into_iter().find(|unit| letter.starts_with(unit.letter()))?;
            let count = count.parse().ok().filter(|count| *count > 0)?;
            Some(Duration { count, unit })
        };
        read().ok_or_else(|| self.error(Kind::Duration, at))
    }
}

impl FromStr for Duration {
    type Err = QuestionError;

    /// Reads `90s`, `30m`, `12h`, `7d` or `4w`.
    fn from_str(text: &str) -> Result<Self, QuestionError> {
        let mut parser = Parser::new(text);
        let duration = parser.duration()?;
        parser.end("the end").map(|()| duration)
    }
}

impl FromStr for When {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, QuestionError> {
        if is_when(text) { Ok(Self(text.into())) } else { Err(QuestionError::new(Kind::When, text, 0)) }
    }
}

impl TryFrom<String> for When {
    type Error = QuestionError;

    fn try_from(text: String) -> Result<Self, QuestionError> {
        text.parse()
    }
}
