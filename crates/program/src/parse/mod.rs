//! The parser of expressions, from a text to a program.
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
//! A number is exact if its value is whole (`3`, `2.50e1`). A vector fills the first slots, a single number every slot.

mod error;
mod grammar;
mod lexer;
mod literals;

pub use error::{ParseError, ParseErrorKind};
pub use literals::LiteralInput;

use alloc::vec::Vec;

use crate::{Constant, InputDeclaration, Program};

/// The treatment of an expression's literals: public or secret.
///
/// ```
/// use sotto_program::{Literals, ParseOptions, parse};
///
/// let inputs = |literals| {
///     let options = ParseOptions { literals, ..ParseOptions::default() };
///     parse("20 + 3", &options).map(|asked| asked.program.inputs().len())
/// };
/// assert_eq!(inputs(Literals::Public)?, 0);
/// assert_eq!(inputs(Literals::Encrypted)?, 2);
/// # Ok::<(), sotto_program::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Literals {
    /// Literals are public constants of the program.
    #[default]
    Public,
    /// Each literal becomes an encrypted input, `x0`, `x1` … in the order of the text; a vector becomes one input.
    /// Exponents, rotation steps, widths and the 1 of `x^0` stay public.
    Encrypted,
}

/// The inputs and the treatment of literals of an expression.
///
/// ```
/// use sotto_program::{InputDeclaration, ParseOptions, parse};
///
/// let options = ParseOptions {
///     inputs: vec![InputDeclaration::new("load", 127.0)],
///     sum_width: Some(64), // sum(e) adds 64 slots
///     ..ParseOptions::default()
/// };
/// let asked = parse("sum(load * load)", &options)?.program;
/// assert_eq!(asked.counts()["sum"], 1);
/// assert!(parse("sum(power)", &options).is_err(), "no input is called power");
/// # Ok::<(), sotto_program::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParseOptions {
    /// The inputs that the expression may name. All of them become inputs of the program, in this order, even if not
    /// named.
    pub inputs: Vec<InputDeclaration>,
    /// The declared magnitude of an input that an unknown name creates, in order of appearance. None: unknown names are
    /// refused.
    pub undeclared: Option<f64>,
    /// The treatment of literals.
    pub literals: Literals,
    /// The width of `sum(e)`. None: a sum must be written `sum(e, width)`.
    pub sum_width: Option<u32>,
}

impl ParseOptions {
    /// Returns options with secret literals and no other inputs.
    #[must_use]
    pub fn encrypted_literals() -> Self {
        Self { literals: Literals::Encrypted, ..Self::default() }
    }
}

/// A parsed expression: its program, and its secret literals.
///
/// ```
/// use sotto_program::{Constant, ParseOptions, parse};
///
/// let asked = parse("[20, 21] + 3", &ParseOptions::encrypted_literals())?;
/// let readings = &asked.literal_inputs[0];
/// assert_eq!(readings.text, "[20, 21]");
/// assert_eq!(readings.value, Constant::Integers(vec![20, 21]));
/// assert_eq!(asked.literal_integers(), Some(vec![vec![20, 21], vec![3]]));
/// # Ok::<(), sotto_program::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedExpression {
    /// The program, with one output called `result`.
    pub program: Program,
    /// The value of each input that was a literal; empty unless [`Literals::Encrypted`].
    pub literal_inputs: Vec<LiteralInput>,
}

impl ParsedExpression {
    /// Returns the values of all inputs, one vector each. Returns None if an input has a name or a literal is not
    /// whole.
    #[must_use]
    pub fn literal_integers(&self) -> Option<Vec<Vec<i128>>> {
        let whole = |value: &Constant| value.integers().map(<[i128]>::to_vec);
        self.in_order(whole)
    }

    /// Returns the values of all inputs, one vector each. Returns None if an input has a name.
    #[must_use]
    pub fn literal_reals(&self) -> Option<Vec<Vec<f64>>> {
        self.in_order(|value| Some(value.reals()))
    }

    /// Literal inputs are in the order of their ids, so equal numbers mean that all inputs are literals.
    fn in_order<N>(&self, values: impl Fn(&Constant) -> Option<Vec<N>>) -> Option<Vec<Vec<N>>> {
        let all = self.literal_inputs.len() == self.program.inputs().len();
        all.then(|| self.literal_inputs.iter().map(|literal| values(&literal.value)).collect())?
    }
}

/// Parses an expression. [`crate::limits`] bounds the text, nesting, nodes, exponents and vectors.
///
/// # Errors
/// [`ParseError`] names the reason and the place; its `Display` draws a caret under the character.
pub fn parse(text: &str, options: &ParseOptions) -> Result<ParsedExpression, ParseError> {
    grammar::parse(text, options)
}
