//! The lexer: characters to tokens.

use sotto_program::text::{self, Number, found_char, number_length, run};

use super::error::QuestionErrorKind as Kind;
use super::{Comparison, limits};

/// Words that end a selected expression. A channel with this name must be in quotes.
pub(crate) const RESERVED: [&str; 10] =
    ["as", "over", "during", "since", "until", "by", "per", "across", "where", "shared"];

/// A token that borrows from the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'t> {
    Number(Number),
    Word(&'t str),
    /// The text between the quotes, escapes included.
    Quoted(&'t str),
    /// One of `+ - * / ( ) [ ] , ~`.
    Symbol(char),
    /// One of `> >= < <= = !=`; `==` is `=`.
    Comparison(Comparison),
    End,
}

/// A token and its range of bytes in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spanned<'t> {
    pub(crate) token: Token<'t>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Returns the first byte at or after `from` that is not white space.
pub(crate) fn skip_space(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_start().len()
}

/// Returns the token that starts at or after byte `from`.
///
/// # Errors
/// The reason, and the byte of the error.
pub(crate) fn token(text: &str, from: usize) -> Result<Spanned<'_>, (Kind, usize)> {
    let start = skip_space(text, from);
    let rest = &text[start..];
    let spanned = |token, length| Spanned { token, start, end: start + length };
    let Some(first) = rest.chars().next() else {
        return Ok(spanned(Token::End, 0));
    };
    match first {
        '+' | '-' | '*' | '/' | '(' | ')' | '[' | ']' | ',' | '~' => Ok(spanned(Token::Symbol(first), 1)),
        '<' | '>' => {
            let or_equal = rest[1..].starts_with('=');
            let comparison = match (first, or_equal) {
                ('>', false) => Comparison::Greater,
                ('>', true) => Comparison::AtLeast,
                (_, false) => Comparison::Less,
                (_, true) => Comparison::AtMost,
            };
            Ok(spanned(Token::Comparison(comparison), comparison.symbol().len()))
        }
        '=' => {
            let length = if rest.starts_with("==") { 2 } else { 1 };
            Ok(spanned(Token::Comparison(Comparison::Equal), length))
        }
        '!' if rest.starts_with("!=") => Ok(spanned(Token::Comparison(Comparison::Differs), 2)),
        '!' => Err((Kind::Equality { symbol: first }, start)),
        '^' => Err((Kind::Power, start)),
        '\'' => Err((Kind::SingleQuote, start)),
        '"' => {
            let length = quoted_length(rest).map_err(|(kind, at)| (kind, start + at))?;
            Ok(spanned(Token::Quoted(&rest[1..length - 1]), length))
        }
        '0'..='9' | '.' => {
            let length = number_length(rest.as_bytes()).map_err(|at| {
                let found = found_char(rest[at..].chars().next());
                (Kind::Expected { expected: "a digit", found }, start + at)
            })?;
            let number = Number::read(&rest[..length]).map_err(|size| (Kind::NumberSize { size }, start))?;
            Ok(spanned(Token::Number(number), length))
        }
        'a'..='z' | 'A'..='Z' | '_' => {
            let length = run(rest.as_bytes(), 0, in_word);
            Ok(spanned(Token::Word(&rest[..length]), length))
        }
        '$' => {
            let length = run(rest.as_bytes(), 1, in_word);
            Err((Kind::NotFilled { parameter: text::excerpt_of(&rest[..length], 40) }, start))
        }
        other => {
            let expected = "a word, a number, a name in \"quotes\" or one of + - * / ( ) [ ] , ~";
            Err((Kind::Expected { expected, found: found_char(Some(other)) }, start))
        }
    }
}

const fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

/// Returns the length in bytes of the quoted text at the start of `rest`, quotes included.
fn quoted_length(rest: &str) -> Result<usize, (Kind, usize)> {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if character.is_control() => return Err((Kind::NameCharacter, at)),
            '"' | '\\' if escaped => escaped = false,
            _ if escaped => return Err((Kind::Escape, at)),
            '\\' => escaped = true,
            '"' => return Ok(at + 1),
            _ => {}
        }
    }
    Err((Kind::Unclosed, 0))
}

/// Returns the text of a [`Token::Quoted`] without its escapes.
pub(crate) fn unquoted(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut characters = inside.chars();
    while let Some(character) = characters.next() {
        text.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    text
}

/// Returns true if `name` needs no quotes.
pub(crate) fn is_bare_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes.iter().all(|byte| in_word(*byte))
        && !RESERVED.contains(&name)
}

pub(crate) const fn in_file(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/')
}

/// Returns true for the bytes of a unit that stands without quotes: `kWh/m²`.
pub(crate) const fn in_unit(byte: u8) -> bool {
    !byte.is_ascii() || byte.is_ascii_graphic() && !matches!(byte, b',' | b'"')
}

/// Returns true if the name of a file needs no quotes.
pub(crate) fn is_bare_file(file: &str) -> bool {
    !file.is_empty() && file.bytes().all(in_file)
}

/// Refuses an empty name and one of more than `limit` bytes.
pub(crate) fn check_length(name: &str, limit: usize) -> Result<(), Kind> {
    match name.len() {
        0 => Err(Kind::NameEmpty),
        bytes if bytes > limit => Err(Kind::NameTooLong { bytes, limit }),
        _ => Ok(()),
    }
}

impl Token<'_> {
    /// Returns the token's name in an error.
    pub(crate) fn found(self) -> String {
        match self {
            Self::Number(_) => "a number".into(),
            Self::Word(word) => text::excerpt_of(word, limits::NAME_BYTES),
            Self::Quoted(_) => "a name in quotes".into(),
            Self::Symbol(symbol) => found_char(Some(symbol)),
            Self::Comparison(comparison) => format!("'{}'", comparison.symbol()),
            Self::End => found_char(None),
        }
    }
}
