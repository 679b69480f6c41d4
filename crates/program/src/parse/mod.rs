//! From an expression to a program.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = unary { "*" unary }
//! unary   = { "-" } power                              -x^2 is -(x^2)
//! power   = value [ "^" exponent ]                     0 … 1024, public
//! value   = number | vector | name | "(" sum ")" | function
//! vector  = "[" signed { "," signed } "]"
//! function = "sum" "(" sum [ "," width ] ")"           width: a power of two, public
//!          | "rotate" "(" sum "," steps ")"            to the left; negative: to the right; public
//! ```
//!
//! A number is whole when its value is (`3`, `2.50e1`), and is then kept exactly. A vector fills the first slots, a
//! single number every slot.

mod error;
mod grammar;
mod lexer;
mod literals;
mod number;

pub(crate) use lexer::{found_char, number_length, run};
pub(crate) use number::Number;

pub use error::{ParseError, ParseErrorKind};
pub use literals::LiteralInput;

use crate::{Constant, InputDeclaration, Program};

/// Whether the numbers written in an expression are secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Literals {
    /// They are public constants of the program.
    #[default]
    Public,
    /// Each becomes an encrypted input of its own, `x0`, `x1` … in the order they are written; a vector becomes one.
    /// Exponents, rotation steps and widths stay public, and so does the 1 that `x^0` is.
    Encrypted,
}

/// What an expression may refer to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParseOptions {
    /// Inputs it may name. All of them are inputs of the program, in this order, named or not.
    pub inputs: Vec<InputDeclaration>,
    /// What other names are: an input of this declared magnitude, in order of appearance; refused when `None`.
    pub undeclared: Option<f64>,
    /// Whether its numbers are secret.
    pub literals: Literals,
    /// The width of `sum(e)`; when `None`, a sum must be written `sum(e, width)`.
    pub sum_width: Option<u32>,
}

impl ParseOptions {
    /// Numbers are secret and there are no other inputs.
    #[must_use]
    pub fn encrypted_literals() -> Self {
        Self { literals: Literals::Encrypted, ..Self::default() }
    }
}

/// What an expression asks, and the secret numbers that were written in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedExpression {
    /// The program, with one output called `result`.
    pub program: Program,
    /// With [`Literals::Encrypted`], the value of each input that was a number; otherwise empty.
    pub literal_inputs: Vec<LiteralInput>,
}

impl ParsedExpression {
    /// The inputs to hand over when every input was a whole number: one vector for each input of the program. `None`
    /// when a name was used or a number is not whole.
    #[must_use]
    pub fn literal_integers(&self) -> Option<Vec<Vec<i128>>> {
        let whole = |value: &Constant| value.integers().map(<[i128]>::to_vec);
        self.in_order(whole)
    }

    /// The inputs to hand over when every input was a number: one vector for each input of the program. `None` when
    /// a name was used.
    #[must_use]
    pub fn literal_reals(&self) -> Option<Vec<Vec<f64>>> {
        self.in_order(|value| Some(value.reals()))
    }

    /// Literal inputs are in the order of their ids, so they are all inputs when they are as many.
    fn in_order<N>(&self, values: impl Fn(&Constant) -> Option<Vec<N>>) -> Option<Vec<Vec<N>>> {
        let all = self.literal_inputs.len() == self.program.inputs().len();
        all.then(|| self.literal_inputs.iter().map(|literal| values(&literal.value)).collect())?
    }
}

/// Reads an expression. Bounded by [`crate::limits`]: text, nesting, nodes, exponents, vectors.
///
/// # Errors
/// [`ParseError`] says what is wrong and where; its `Display` draws a caret under the character.
pub fn parse(text: &str, options: &ParseOptions) -> Result<ParsedExpression, ParseError> {
    grammar::parse(text, options)
}
