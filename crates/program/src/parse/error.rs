//! Errors that point at a character.

use std::fmt;

use crate::caret::Drawn;
use crate::{ProgramError, limits};

/// What is wrong with an expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParseErrorKind {
    /// There is nothing to read.
    #[error("the expression is empty: expected a number, a name or a function")]
    Empty,
    /// The text is longer than is read.
    #[error("the expression has {bytes} bytes; at most {} are read", limits::EXPRESSION_BYTES)]
    TooLong {
        /// Bytes of the text.
        bytes: usize,
    },
    /// Something else should stand here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What should.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// Ciphertexts cannot be divided.
    #[error(
        "division is not possible on ciphertexts: divide after decryption, or multiply by a public number"
    )]
    Division,
    /// No such input.
    #[error("no input is called {name}; {known}")]
    UnknownName {
        /// The name.
        name: String,
        /// The inputs there are, as a sentence.
        known: String,
    },
    /// No such function.
    #[error("no function is called {name}: expected sum(e), sum(e, width) or rotate(e, steps)")]
    UnknownFunction {
        /// The name.
        name: String,
    },
    /// The name of a function without its parenthesis.
    #[error("{name} is a function: expected '(' after it")]
    FunctionName {
        /// The name.
        name: String,
    },
    /// A number whose size f64 cannot hold.
    #[error("the number is too {size} for a 64-bit float")]
    NumberSize {
        /// `large` or `small`.
        size: &'static str,
    },
    /// An exponent that is not public, not whole, negative or too large.
    #[error("an exponent must be a whole number from 0 to {}, written out", limits::EXPONENT)]
    Exponent,
    /// `a^b^c`.
    #[error(
        "a power of a power is read differently by different people: expected parentheses, as in (a^b)^c"
    )]
    PowerOfPower,
    /// Rotation steps that are not a public whole number in range.
    #[error("rotation steps must be a whole number from -{0} to {0}, written out", limits::ROTATION)]
    Steps,
    /// The width of a sum is not a public power of two in range.
    #[error("the width of a sum must be a power of two from 1 to {}, written out", limits::SUM_WIDTH)]
    Width,
    /// `sum(e)` where no width is known.
    #[error("the width of this sum is not known: expected ', width', as in sum(e, 64)")]
    NoWidth,
    /// Too much inside one another.
    #[error("more than {} parentheses or functions inside one another", limits::NESTING)]
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
    /// The options declare what no program may have.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// Byte where the trouble starts: a character boundary, at most the length of the text.
    pub offset: usize,
    /// The same in characters, counted from 1.
    pub column: usize,
    drawn: Drawn,
}

impl ParseError {
    /// An error at byte `offset` of `text`, which is a character boundary.
    pub(super) fn new(kind: ParseErrorKind, text: &str, offset: usize) -> Self {
        let (column, drawn) = Drawn::new(text, offset);
        Self { kind, offset, column, drawn }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "column {}: {}\n{}", self.column, self.kind, self.drawn)
    }
}

impl std::error::Error for ParseError {}
