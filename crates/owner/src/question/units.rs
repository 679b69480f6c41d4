//! Units of results.

use super::{Along, AlongGroups, CallArithmetic, Expression, Offset, Priced};
use crate::functions::{Call, Yields};
use crate::gathered::Channels;
use crate::language::Tariff;
use crate::units::{Conversion, Scale};
use crate::value::{Value, ValueError, common, ratio};

/// Returns the unit of a result; empty if it has several values, whose units may differ.
///
/// # Errors
/// [`ValueError::Units`] if results with different units are added.
pub(crate) fn unit_of(expression: &Expression, channels: &dyn Channels) -> Result<String, ValueError> {
    expression.fold(&mut Units(channels)).map(|value| value.unit)
}

/// Returns the conversion of a result into its unit of `in`; None if it has none.
///
/// # Errors
/// Why it cannot be converted.
pub(crate) fn conversion(
    expression: &Expression,
    unit: Option<&str>,
    channels: &dyn Channels,
) -> Result<Option<Conversion>, String> {
    let Some(to) = unit else { return Ok(None) };
    let from = unit_of(expression, channels).map_err(|error| error.to_string())?;
    let conversion = Conversion::between(&from, to, scale(expression)).map_err(|error| error.to_string())?;
    Ok(Some(conversion))
}

/// Returns what a result says about a unit with a zero of its own.
fn scale(expression: &Expression) -> Scale {
    use Scale::{Difference, Other, Point};
    match expression {
        // A number takes the unit of what it is added to.
        Expression::Number(_) => Difference,
        Expression::Call(call)
        | Expression::CallOf { call, .. }
        | Expression::Offset(Offset { of: call, .. }) => of_call(call),
        Expression::Priced(_) => Other,
        Expression::Along(Along { function, of, .. }) => match (function, of_call(of)) {
            (AlongGroups::Ewma(_), scale) => scale,
            (AlongGroups::Difference, Point | Difference)
            | (AlongGroups::Cumulative | AlongGroups::Rate, Difference) => Difference,
            _ => Other,
        },
        Expression::Negate(of) => match scale(of) {
            Difference => Difference,
            Point | Other => Other,
        },
        Expression::Add(left, right) => match (scale(left), scale(right)) {
            (Difference, Difference) => Difference,
            (Point, Difference) | (Difference, Point) => Point,
            _ => Other,
        },
        Expression::Subtract(left, right) => match (scale(left), scale(right)) {
            (Point, Point) | (Difference, Difference) => Difference,
            (Point, Difference) => Point,
            _ => Other,
        },
        Expression::Multiply(left, right) | Expression::Divide(left, right) => {
            match (scale(left), scale(right)) {
                (Difference, Difference) => Difference,
                _ => Other,
            }
        }
    }
}

fn of_call(call: &Call) -> Scale {
    match call.of().yields() {
        Yields::One(of) => of.scale(),
        Yields::Several(_) => Scale::Other,
    }
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

    fn along(&mut self, along: &Along) -> Result<Value, ValueError> {
        let of = self.call(&along.of)?;
        Ok(match along.function {
            AlongGroups::Rate => one(ratio(&of.unit, "s")),
            AlongGroups::Cumulative | AlongGroups::Difference | AlongGroups::Ewma(_) => of,
        })
    }

    fn offset(&mut self, offset: &Offset) -> Result<Value, ValueError> {
        self.call(&offset.of)
    }

    fn priced(&mut self, priced: &Priced) -> Result<Value, ValueError> {
        Ok(one(priced.tariff.as_ref().map(|tariff| tariff.currency.clone()).unwrap_or_default()))
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

/// Returns the conversion of a call's unit into that of a tariff.
///
/// # Errors
/// Why there is none, and what to do.
pub(crate) fn priced_unit(unit: &str, tariff: &Tariff) -> Result<Conversion, String> {
    Conversion::between(unit, &tariff.unit, Scale::Other).map_err(|_| {
        let per = if tariff.unit.is_empty() { "one".to_owned() } else { tariff.unit.clone() };
        let has = if unit.is_empty() { "no unit".to_owned() } else { format!("the unit {unit}") };
        format!("the result has {has}, and the prices are per {per}: write unit = \"{unit}\" and prices for it in the tariff")
    })
}
