//! The lexer: characters to tokens.

use alloc::string::String;

use super::error::ParseErrorKind;
use super::number::Number;

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
            let number = Number::read(&rest[..length]).map_err(|kind| (kind, start))?;
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

/// Returns the end of the run of matching bytes that starts at `from`.
pub(crate) fn run(bytes: &[u8], from: usize, of: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|&byte| !of(byte)).map_or(bytes.len(), |length| from + length)
}

/// Returns the length in bytes of the number at the start of `bytes`, or the position of a missing digit as an error.
pub(crate) fn number_length(bytes: &[u8]) -> Result<usize, usize> {
    let digits = |from| run(bytes, from, |byte| byte.is_ascii_digit());
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        if after == end + 1 {
            return Err(after);
        }
        end = after;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if signed >= bytes.len() || digits(signed) == signed {
            return Err(signed);
        }
        end = digits(signed);
    }
    Ok(end)
}

pub(crate) fn found_char(character: Option<char>) -> String {
    match character {
        None => "the end".into(),
        Some(character) => format!("'{}'", character.escape_debug()),
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
