//! Arithmetic between calls. It is done after decryption.

use std::fmt::{self, Display, Formatter};
use std::ops;

use serde::{Deserialize, Serialize};

use super::{Along, AlongGroups, CallArithmetic, Earlier, Offset, Priced, Selected, written_call};
use crate::functions::Call;
use crate::language::{Number, Scope};

/// Numbers, calls, and arithmetic between them.
///
/// Rust's operators build it: `Call::mean("inlet") - Call::mean("outlet")`.
///
/// ```
/// use sotto_owner::question::{Call, Expression, Question};
///
/// let loss: Expression = (Call::mean("inlet") - Call::mean("outlet")) / 20.0;
/// assert_eq!(loss.calls().count(), 2);
/// let question = Question::select(loss.named("loss")).build()?;
/// assert_eq!(question.to_string(), "(mean(inlet) - mean(outlet)) / 20 as loss");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    /// A finite number.
    Number(f64),
    /// A statistic.
    Call(Call),
    /// A statistic of devices that it names: `mean(x of boiler)`.
    CallOf {
        /// The statistic.
        call: Call,
        /// The devices.
        of: Scope,
    },
    /// A function of a statistic along the groups of the `by` clause.
    Along(Along),
    /// A statistic of an earlier group.
    Offset(Offset),
    /// The cost of a statistic by a tariff.
    Priced(Priced),
    /// The negative.
    Negate(Box<Expression>),
    /// First plus second.
    Add(Box<Expression>, Box<Expression>),
    /// First minus second.
    Subtract(Box<Expression>, Box<Expression>),
    /// First times second.
    Multiply(Box<Expression>, Box<Expression>),
    /// First divided by second.
    Divide(Box<Expression>, Box<Expression>),
}

/// The groups that the value of a call in a row is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OfGroups<'e> {
    /// That of the row.
    Own,
    /// Those up to it.
    Along(&'e AlongGroups),
    /// An earlier one.
    Earlier(Earlier),
    /// Its parts between changes of the price.
    Priced(&'e Priced),
}

impl Expression {
    /// Names the result, like `as`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Selected {
        Selected { expression: self, unit: None, name: Some(name.into()) }
    }

    /// Evaluates the expression with the caller's arithmetic, left operands first.
    ///
    /// # Errors
    /// The first error of `arithmetic`.
    pub fn fold<A: CallArithmetic>(&self, arithmetic: &mut A) -> Result<A::Value, A::Error> {
        let mut both = |left: &Self, right: &Self| Ok((left.fold(arithmetic)?, right.fold(arithmetic)?));
        match self {
            Self::Number(number) => arithmetic.number(*number),
            Self::Call(call) | Self::CallOf { call, .. } => arithmetic.call(call),
            Self::Along(along) => arithmetic.along(along),
            Self::Offset(offset) => arithmetic.offset(offset),
            Self::Priced(priced) => arithmetic.priced(priced),
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

    /// Returns the value of an expression without calls; None if it has any.
    pub(super) fn constant(&self) -> Option<f64> {
        let both = |left: &Self, right: &Self| left.constant().zip(right.constant());
        match self {
            Self::Number(number) => Some(*number),
            Self::Call(_) | Self::CallOf { .. } | Self::Along(_) | Self::Offset(_) | Self::Priced(_) => None,
            Self::Negate(of) => of.constant().map(|value| -value),
            Self::Add(left, right) => both(left, right).map(|(left, right)| left + right),
            Self::Subtract(left, right) => both(left, right).map(|(left, right)| left - right),
            Self::Multiply(left, right) => both(left, right).map(|(left, right)| left * right),
            Self::Divide(left, right) => both(left, right).map(|(left, right)| left / right),
        }
    }

    /// Iterates over the calls in the order of the text.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.asked().map(|(call, ..)| call)
    }

    /// Returns a call, about devices that it names or not.
    pub(crate) fn of(call: Call, devices: Option<Scope>) -> Self {
        match devices {
            Some(of) => Self::CallOf { call, of },
            None => Self::Call(call),
        }
    }

    /// Iterates over the calls in the order of the text, each with the devices that it names.
    pub fn calls_of(&self) -> impl Iterator<Item = (&Call, Option<&Scope>)> {
        self.asked().map(|(call, of, _)| (call, of))
    }

    /// Iterates over the calls in the order of the text, each with the devices that it names and the groups that its value is
    /// made of.
    pub(super) fn asked(&self) -> impl Iterator<Item = (&Call, Option<&Scope>, OfGroups<'_>)> {
        self.parts().filter_map(|(part, _)| match part {
            Self::Call(call) => Some((call, None, OfGroups::Own)),
            Self::CallOf { call, of } => Some((call, Some(of), OfGroups::Own)),
            Self::Along(Along { function, of, devices }) => {
                Some((of, devices.as_ref(), OfGroups::Along(function)))
            }
            Self::Offset(Offset { of, devices, earlier }) => {
                Some((of, devices.as_ref(), OfGroups::Earlier(*earlier)))
            }
            Self::Priced(priced) => Some((&priced.of, priced.devices.as_ref(), OfGroups::Priced(priced))),
            _ => None,
        })
    }

    /// Iterates over the calls of earlier groups in the order of the text.
    pub fn offsets(&self) -> impl Iterator<Item = &Offset> {
        self.parts().filter_map(|(part, _)| match part {
            Self::Offset(offset) => Some(offset),
            _ => None,
        })
    }

    /// Iterates over the functions along groups in the order of the text.
    pub fn along(&self) -> impl Iterator<Item = &Along> {
        self.parts().filter_map(|(part, _)| match part {
            Self::Along(along) => Some(along),
            _ => None,
        })
    }

    /// Returns the call that is the whole expression, if it is one.
    pub(crate) fn only_call(&self) -> Option<&Call> {
        match self {
            Self::Call(call) | Self::CallOf { call, .. } => Some(call),
            _ => None,
        }
    }

    /// Returns the depth of nested and chained operators; 1 for a call or a number.
    pub(super) fn depth(&self) -> usize {
        self.parts().map(|(_, depth)| depth).max().unwrap_or(0)
    }

    /// Iterates over all subexpressions with their depths, in the order of the text. Does not recurse, because the
    /// depth may be unchecked.
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
            Self::Number(_)
            | Self::Call(_)
            | Self::CallOf { .. }
            | Self::Along(_)
            | Self::Offset(_)
            | Self::Priced(_) => [None, None],
            Self::Negate(of) => [Some(of), None],
            Self::Add(left, right)
            | Self::Subtract(left, right)
            | Self::Multiply(left, right)
            | Self::Divide(left, right) => [Some(left), Some(right)],
        }
    }

    /// Changes every call, alone or with its devices. Recurses, so the depth must be checked before.
    pub(super) fn change_parts(&mut self, change: &mut impl FnMut(&mut Self)) {
        match self {
            Self::Number(_) => {}
            Self::Call(_) | Self::CallOf { .. } | Self::Along(_) | Self::Offset(_) | Self::Priced(_) => {
                change(self);
            }
            Self::Negate(of) => of.change_parts(change),
            Self::Add(left, right)
            | Self::Subtract(left, right)
            | Self::Multiply(left, right)
            | Self::Divide(left, right) => {
                left.change_parts(change);
                right.change_parts(change);
            }
        }
    }

    /// Changes every call. Recurses, so the depth must be checked before.
    pub(super) fn change_calls(&mut self, change: &mut impl FnMut(&mut Call)) {
        match self {
            Self::Number(_) => {}
            Self::Call(call)
            | Self::CallOf { call, .. }
            | Self::Along(Along { of: call, .. })
            | Self::Offset(Offset { of: call, .. })
            | Self::Priced(Priced { of: call, .. }) => {
                change(call);
            }
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

impl From<Along> for Expression {
    fn from(along: Along) -> Self {
        Self::Along(along)
    }
}

impl From<Offset> for Expression {
    fn from(offset: Offset) -> Self {
        Self::Offset(offset)
    }
}

impl From<Priced> for Expression {
    fn from(priced: Priced) -> Self {
        Self::Priced(priced)
    }
}

impl From<f64> for Expression {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// Implements Rust's operators on expressions and calls.
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

/// Returns the binding strength: sums 1, products 2, a minus sign 3, calls and numbers 4.
const fn strength(expression: &Expression) -> u8 {
    match expression {
        Expression::Add(..) | Expression::Subtract(..) => 1,
        Expression::Multiply(..) | Expression::Divide(..) => 2,
        Expression::Negate(_) => 3,
        Expression::Number(_)
        | Expression::Call(_)
        | Expression::CallOf { .. }
        | Expression::Along(_)
        | Expression::Offset(_)
        | Expression::Priced(_) => 4,
    }
}

/// Writes an operand, in parentheses if it binds less strongly than `.1`.
struct Operand<'e>(&'e Expression, u8);

impl Display for Operand<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if strength(self.0) >= self.1 { self.0.fmt(out) } else { write!(out, "({})", self.0) }
    }
}

impl Display for Expression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (left, sign, right) = match self {
            Self::Number(number) => return Number(*number).fmt(out),
            Self::Call(call) => return call.fmt(out),
            Self::CallOf { call, of } => return written_call::write(call, of, out),
            Self::Along(along) => return along.fmt(out),
            Self::Offset(offset) => return offset.fmt(out),
            Self::Priced(priced) => return priced.fmt(out),
            // The parser reads -3 as a number, so the negative of 3 is -(3).
            Self::Negate(of) => match **of {
                Self::Number(number) if number.is_sign_positive() => return write!(out, "-({of})"),
                _ => return write!(out, "-{}", Operand(of, 3)),
            },
            Self::Add(left, right) => (left, '+', right),
            Self::Subtract(left, right) => (left, '-', right),
            Self::Multiply(left, right) => (left, '*', right),
            Self::Divide(left, right) => (left, '/', right),
        };
        let strength = strength(self);
        write!(out, "{} {sign} {}", Operand(left, strength), Operand(right, strength + 1))
    }
}

impl Priced {
    /// Names the result, like `as`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Selected {
        Expression::Priced(self).named(name)
    }
}

impl Along {
    /// Names the result, like `as`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Selected {
        Expression::Along(self).named(name)
    }
}

impl Call {
    /// Names the result, like `as`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Selected {
        Expression::Call(self).named(name)
    }
}
