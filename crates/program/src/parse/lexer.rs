//! The lexer: characters to tokens.

use alloc::string::String;

use super::error::ParseErrorKind;
use crate::text::{Number, found_char, number_length, run};

/// A token that borrows from the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'t> {
    Number(Number),
    Name(&'t str),
    /// One of `+ - * ^ ( ) [ ] ,`.
    Symbol(char),
    End,
}

/// A token and its range of bytes in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spanned<'t> {
    pub(super) token: Token<'t>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns the token that starts at or after byte `from`.
///
/// # Errors
/// The reason, and the byte of the error.
pub(super) fn token(text: &str, from: usize) -> Result<Spanned<'_>, (ParseErrorKind, usize)> {
    let rest = text[from..].trim_start();
    let start = text.len() - rest.len();
    let spanned = |token, length| Spanned { token, start, end: start + length };
    let Some(first) = rest.chars().next() else {
        return Ok(spanned(Token::End, 0));
    };
    let bytes = rest.as_bytes();
    match first {
        '+' | '-' | '*' | '^' | '(' | ')' | '[' | ']' | ',' => Ok(spanned(Token::Symbol(first), 1)),
        '/' => Err((ParseErrorKind::Division, start)),
        '0'..='9' | '.' => {
            let length = number_length(bytes).map_err(|at| {
                let found = found_char(rest[at..].chars().next());
                (ParseErrorKind::Expected { expected: "a digit", found }, start + at)
            })?;
            let number =
                Number::read(&rest[..length]).map_err(|size| (ParseErrorKind::NumberSize { size }, start))?;
            Ok(spanned(Token::Number(number), length))
        }
        'a'..='z' | 'A'..='Z' | '_' => {
            let length = run(bytes, 0, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
            Ok(spanned(Token::Name(&rest[..length]), length))
        }
        other => {
            let expected = "a number, a name, a function or one of + - * ^ ( ) [ ] ,";
            Err((ParseErrorKind::Expected { expected, found: found_char(Some(other)) }, start))
        }
    }
}

impl Token<'_> {
    /// Returns the token's name in an error.
    pub(super) fn found(self) -> String {
        match self {
            Self::Number(_) => "a number".into(),
            Self::Name(_) => "a name".into(),
            Self::Symbol(symbol) => found_char(Some(symbol)),
            Self::End => found_char(None),
        }
    }
}
