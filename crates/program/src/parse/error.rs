//! Errors of expressions, which point at a character.

use alloc::string::String;
use core::fmt;

use crate::text::Caret;
use crate::{ProgramError, limits};

/// The reason why an expression is refused.
///
/// Example: [`ParseError`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParseErrorKind {
    /// There is nothing to read.
    #[error("the expression is empty: expected a number, a name or a function")]
    Empty,
    /// The text is longer than the parser accepts.
    #[error("the expression has {bytes} bytes; at most {} are read", limits::EXPRESSION_BYTES)]
    TooLong {
        /// Bytes of the text.
        bytes: usize,
    },
    /// The token is not one of those expected here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The expected tokens.
        expected: &'static str,
        /// The token found.
        found: String,
    },
    /// Ciphertexts cannot be divided.
    #[error(
        "division is not possible on ciphertexts: divide after decryption, or multiply by a public number"
    )]
    Division,
    /// The name of an input is not known.
    #[error("no input is called {name}; {known}")]
    UnknownName {
        /// The unknown name.
        name: String,
        /// A sentence that lists the known inputs.
        known: String,
    },
    /// The name of a function is not known.
    #[error("no function is called {name}: expected sum(e), sum(e, width) or rotate(e, steps)")]
    UnknownFunction {
        /// The unknown name.
        name: String,
    },
    /// A function's name without its parenthesis.
    #[error("{name} is a function: expected '(' after it")]
    FunctionName {
        /// The function's name.
        name: String,
    },
    /// A number beyond the range of f64.
    #[error("the number is too {size} for a 64-bit float")]
    NumberSize {
        /// "large" or "small".
        size: &'static str,
    },
    /// An exponent that is not a literal whole number in range.
    #[error("an exponent must be a whole number from 0 to {}, written out", limits::EXPONENT)]
    Exponent,
    /// `a^b^c`.
    #[error(
        "a power of a power is read differently by different people: expected parentheses, as in (a^b)^c"
    )]
    PowerOfPower,
    /// Rotation steps that are not a literal whole number in range.
    #[error("rotation steps must be a whole number from -{0} to {0}, written out", limits::ROTATION)]
    Steps,
    /// The width of a sum is not a literal power of two in range.
    #[error("the width of a sum must be a power of two from 1 to {}, written out", limits::SUM_WIDTH)]
    Width,
    /// `sum(e)` without a width, although the options give none.
    #[error("the width of this sum is not known: expected ', width', as in sum(e, 64)")]
    NoWidth,
    /// Too many nested parentheses, brackets or functions.
    #[error("more than {} nested parentheses or functions", limits::NESTING)]
    Nesting,
    /// Too many operations.
    #[error("the expression is more than {} operations", limits::NODES)]
    Nodes,
    /// Too many encrypted inputs.
    #[error("the expression has more than {} encrypted inputs", limits::INPUTS)]
    Inputs,
    /// Too many values in a vector.
    #[error("the vector has more than {} values", limits::VECTOR)]
    VectorTooLong,
    /// The options or the expression exceed the limits of a program.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// The reason why an expression is refused, and its place in the text.
///
/// ```
/// use sotto_program::parse::ParseErrorKind;
/// use sotto_program::{ParseOptions, parse};
///
/// let refused = parse("boiler / 2", &ParseOptions { undeclared: Some(120.0), ..ParseOptions::default() });
/// let error = refused.unwrap_err();
/// assert_eq!(error.kind, ParseErrorKind::Division);
/// assert_eq!(error.column, 8);
/// assert!(error.to_string().ends_with("boiler / 2\n           ^"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// The reason.
    pub kind: ParseErrorKind,
    /// The byte of the error: a character boundary, at most the length of the text.
    pub offset: usize,
    /// The character of the error, counted from 1.
    pub column: usize,
    drawn: Caret,
}

impl ParseError {
    /// Makes an error at byte `offset` of `text`, which must be a character boundary.
    pub(super) fn new(kind: ParseErrorKind, text: &str, offset: usize) -> Self {
        let (column, drawn) = Caret::new(text, offset);
        Self { kind, offset, column, drawn }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "column {}: {}\n{}", self.column, self.kind, self.drawn)
    }
}

impl core::error::Error for ParseError {}
