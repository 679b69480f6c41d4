//! Operands and multipliers beside which errors are followed.

use core::ops::Deref;

use sotto_rlwe::{PlainSize, Scheme, Shape};

use crate::errors::{ErrorRules, Errors};

/// An operand of another machine, borrowed or owned, with its errors.
///
/// Example: [`Tracking`](super::Tracking)
#[derive(Debug)]
pub struct Tracked<'a, O> {
    pub(super) operand: Held<'a, O>,
    pub(super) errors: Errors,
}

#[derive(Debug)]
pub(super) enum Held<'a, O> {
    Borrowed(&'a O),
    Owned(O),
}

impl<O> Deref for Held<'_, O> {
    type Target = O;
    fn deref(&self) -> &O {
        match self {
            Self::Borrowed(operand) => operand,
            Self::Owned(operand) => operand,
        }
    }
}

impl<'a, O> Tracked<'a, O> {
    /// Puts errors beside an operand.
    pub fn new(operand: &'a O, errors: Errors) -> Self {
        Self { operand: Held::Borrowed(operand), errors }
    }

    pub(super) fn owned(operand: O, errors: Errors) -> Self {
        Self { operand: Held::Owned(operand), errors }
    }

    /// Returns the errors.
    pub fn errors(&self) -> &Errors {
        &self.errors
    }
}

impl<O> Deref for Tracked<'_, O> {
    type Target = O;
    fn deref(&self) -> &O {
        &self.operand
    }
}

/// A multiplier of another machine, with the sizes that errors grow by.
///
/// Example: [`Tracking`](super::Tracking)
#[derive(Debug)]
pub struct Factor<P> {
    pub(super) multiplier: P,
    pub(super) size: PlainSize,
    /// The sign of a constant.
    pub(super) negative: Option<bool>,
}

impl<P> Factor<P> {
    pub(super) fn follow<S: Scheme>(&self, rules: &ErrorRules, errors: &mut Errors, before: &Shape<S>) {
        match self.negative {
            Some(negative) => rules.multiply_constant(errors, before, self.size, negative),
            None => rules.multiply_plain(errors, before, self.size),
        }
    }
}
