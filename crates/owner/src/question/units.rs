//! Units of results.

use super::{CallArithmetic, Expression};
use crate::functions::{Call, Yields};
use crate::gathered::Channels;
use crate::value::{Value, ValueError, common};

/// Returns the unit of a result; empty if it has several values, whose units may differ.
///
/// # Errors
/// [`ValueError::Units`] if results with different units are added.
pub(crate) fn unit_of(expression: &Expression, channels: &dyn Channels) -> Result<String, ValueError> {
    expression.fold(&mut Units(channels)).map(|value| value.unit)
}

/// Arithmetic on units alone.
struct Units<'c>(&'c dyn Channels);

fn one(unit: String) -> Value {
    Value { unit, ..Value::exact(1.0) }
}

impl CallArithmetic for Units<'_> {
    type Value = Value;
    type Error = ValueError;

    fn number(&mut self, _: f64) -> Result<Value, ValueError> {
        Ok(one(String::new()))
    }

    fn call(&mut self, call: &Call) -> Result<Value, ValueError> {
        Ok(one(match call.of().yields() {
            Yields::One(of) => of.unit(self.0),
            Yields::Several(_) => String::new(),
        }))
    }

    fn negate(&mut self, of: Value) -> Result<Value, ValueError> {
        Ok(of)
    }

    fn add(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        common(&left.unit, &right.unit).map(one)
    }

    fn subtract(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        self.add(left, right)
    }

    fn multiply(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        Ok(left.times(&right))
    }

    fn divide(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        left.over(&right)
    }
}
