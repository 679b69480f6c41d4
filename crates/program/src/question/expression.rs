//! Arithmetic between calls. It happens after decryption.

use std::ops;

use serde::{Deserialize, Serialize};

use super::{Call, Selected};

/// Numbers, calls, and arithmetic between them.
///
/// Operators of Rust build it: `Call::mean("inlet") - Call::mean("outlet")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    /// A finite number.
    Number(f64),
    /// A statistic.
    Call(Call),
    /// The negative.
    Negate(Box<Expression>),
    /// First plus second.
    Add(Box<Expression>, Box<Expression>),
    /// First minus second.
    Subtract(Box<Expression>, Box<Expression>),
    /// First times second.
    Multiply(Box<Expression>, Box<Expression>),
    /// First by second.
    Divide(Box<Expression>, Box<Expression>),
}

/// Arithmetic on a value type of the caller, such as a value with its bound and unit. [`Expression::fold`] uses it.
pub trait Arithmetic {
    /// The value type.
    type Value;
    /// The error type.
    type Error;
    /// Value of a number.
    ///
    /// # Errors
    /// Stops the fold.
    fn number(&mut self, number: f64) -> Result<Self::Value, Self::Error>;
    /// Value of a call. Calls come in reading order, each once.
    ///
    /// # Errors
    /// Stops the fold.
    fn call(&mut self, call: &Call) -> Result<Self::Value, Self::Error>;
    /// −`of`
    ///
    /// # Errors
    /// Stops the fold.
    fn negate(&mut self, of: Self::Value) -> Result<Self::Value, Self::Error>;
    /// `left` + `right`
    ///
    /// # Errors
    /// Stops the fold.
    fn add(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
    /// `left` − `right`
    ///
    /// # Errors
    /// Stops the fold.
    fn subtract(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
    /// `left` · `right`
    ///
    /// # Errors
    /// Stops the fold.
    fn multiply(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
    /// `left` / `right`
    ///
    /// # Errors
    /// Stops the fold; a divisor of zero is one reason.
    fn divide(&mut self, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
}

impl Expression {
    /// Names the result, as `as` does.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Selected {
        Selected { expression: self, name: Some(name.into()) }
    }

    /// Evaluates with the caller's arithmetic, left operands first.
    ///
    /// # Errors
    /// The first error of `arithmetic`.
    pub fn fold<A: Arithmetic>(&self, arithmetic: &mut A) -> Result<A::Value, A::Error> {
        let mut both = |left: &Self, right: &Self| Ok((left.fold(arithmetic)?, right.fold(arithmetic)?));
        match self {
            Self::Number(number) => arithmetic.number(*number),
            Self::Call(call) => arithmetic.call(call),
            Self::Negate(of) => {
                let of = of.fold(arithmetic)?;
                arithmetic.negate(of)
            }
            Self::Add(left, right) => both(left, right).and_then(|(left, right)| arithmetic.add(left, right)),
            Self::Subtract(left, right) => {
                both(left, right).and_then(|(left, right)| arithmetic.subtract(left, right))
            }
            Self::Multiply(left, right) => {
                both(left, right).and_then(|(left, right)| arithmetic.multiply(left, right))
            }
            Self::Divide(left, right) => {
                both(left, right).and_then(|(left, right)| arithmetic.divide(left, right))
            }
        }
    }

    /// Iterates over its calls in reading order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts().filter_map(|(part, _)| match part {
            Self::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Operators inside one another or in a chain; 1 for a call or a number.
    pub(super) fn depth(&self) -> usize {
        self.parts().map(|(_, depth)| depth).max().unwrap_or(0)
    }

    /// Every expression in it and its depth, in reading order. Does not recurse: the expression may be unchecked.
    fn parts(&self) -> impl Iterator<Item = (&Self, usize)> {
        let mut open = vec![(self, 1)];
        std::iter::from_fn(move || {
            let (next, depth) = open.pop()?;
            open.extend(next.operands().into_iter().rev().flatten().map(|operand| (operand, depth + 1)));
            Some((next, depth))
        })
    }

    fn operands(&self) -> [Option<&Self>; 2] {
        match self {
            Self::Number(_) | Self::Call(_) => [None, None],
            Self::Negate(of) => [Some(of), None],
            Self::Add(left, right)
            | Self::Subtract(left, right)
            | Self::Multiply(left, right)
            | Self::Divide(left, right) => [Some(left), Some(right)],
        }
    }

    /// Changes every call. Recurses: the depth is checked before.
    pub(super) fn change_calls(&mut self, change: &mut impl FnMut(&mut Call)) {
        match self {
            Self::Number(_) => {}
            Self::Call(call) => change(call),
            Self::Negate(of) => of.change_calls(change),
            Self::Add(left, right)
            | Self::Subtract(left, right)
            | Self::Multiply(left, right)
            | Self::Divide(left, right) => {
                left.change_calls(change);
                right.change_calls(change);
            }
        }
    }
}

impl From<Call> for Expression {
    fn from(call: Call) -> Self {
        Self::Call(call)
    }
}

impl From<f64> for Expression {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// Operators of Rust on expressions and calls.
macro_rules! operators {
    ($($operator:ident $method:ident $variant:ident,)*) => {
        $(
            impl<R: Into<Expression>> ops::$operator<R> for Expression {
                type Output = Expression;

                fn $method(self, right: R) -> Expression {
                    Expression::$variant(Box::new(self), Box::new(right.into()))
                }
            }

            impl<R: Into<Expression>> ops::$operator<R> for Call {
                type Output = Expression;

                fn $method(self, right: R) -> Expression {
                    ops::$operator::$method(Expression::Call(self), right)
                }
            }
        )*
    };
}

operators! {
    Add add Add,
    Sub sub Subtract,
    Mul mul Multiply,
    Div div Divide,
}

impl ops::Neg for Expression {
    type Output = Self;

    fn neg(self) -> Self {
        Self::Negate(Box::new(self))
    }
}

impl ops::Neg for Call {
    type Output = Expression;

    fn neg(self) -> Expression {
        -Expression::Call(self)
    }
}
