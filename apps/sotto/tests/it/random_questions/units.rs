//! Units of results, and their conversions.

use super::house::CHANNELS;
use super::language::{Along, Call, Expression};

/// A unit as factors with exponents, in the order of the text.
type Factors = Vec<(String, i32)>;

/// Returns the unit of a call with one value, as symbols with exponents.
pub(crate) fn of_call(call: &Call) -> Factors {
    let of = |x: usize| match CHANNELS[x].unit {
        "" => Vec::new(),
        unit => vec![(unit.to_owned(), 1)],
    };
    let hours = |name: &str| vec![(name.to_owned(), 1)];
    match call {
        Call::Of("count" | "coverage" | "changes", _) => Vec::new(),
        Call::Of("time_of_max" | "time_of_min", _) => hours("s"),
        Call::Of("variance", x) => product(of(*x), &of(*x), 1),
        Call::Of("energy", x) => product(of(*x), &hours("h"), 1),
        Call::Where("time" | "longest", _) => hours("h"),
        Call::Where(..) | Call::Two("correlation", ..) | Call::TwoOf("correlation", _) => Vec::new(),
        Call::Degrees("degree_days", x, ..) => product(of(*x), &hours("d"), 1),
        Call::Degrees(_, x, ..) => product(of(*x), &hours("h"), 1),
        Call::Two("covariance", x, y) => product(of(*x), &of(*y), 1),
        Call::TwoOf("covariance", [x, y]) => product(of(x.0), &of(y.0), 1),
        Call::Polynomial(..) => Vec::new(),
        call if call.is_vector() => Vec::new(),
        call => of(call.channels()[0]),
    }
}

fn product(mut left: Factors, right: &Factors, sign: i32) -> Factors {
    for (symbol, exponent) in right {
        match left.iter_mut().find(|(known, _)| known == symbol) {
            Some((_, known)) => *known += sign * exponent,
            None => left.push((symbol.clone(), sign * exponent)),
        }
    }
    left.retain(|(_, exponent)| *exponent != 0);
    left.sort();
    left
}

/// Returns the unit of an expression.
///
/// # Errors
/// `Err` if values of different units are added.
pub(crate) fn of(expression: &Expression) -> Result<Factors, ()> {
    match expression {
        Expression::Number(_) => Ok(Vec::new()),
        Expression::Call(call, _) | Expression::Offset(call, ..) => Ok(of_call(call)),
        Expression::Along(Along::Rate, call, _) => Ok(product(of_call(call), &vec![("s".to_owned(), 1)], -1)),
        Expression::Along(_, call, _) => Ok(of_call(call)),
        Expression::Tariff(..) => Ok(vec![("EUR".to_owned(), 1)]),
        Expression::Negate(inner) => of(inner),
        Expression::Two(sign, left, right) => {
            let (left, right) = (of(left)?, of(right)?);
            match sign {
                '*' => Ok(product(left, &right, 1)),
                '/' => Ok(product(left, &right, -1)),
                _ if left.is_empty() || left == right => Ok(right),
                _ if right.is_empty() => Ok(left),
                _ => Err(()),
            }
        }
    }
}

/// Returns true if a call's value is a point of a scale: another zero moves it.
fn is_point(call: &Call) -> Option<bool> {
    Some(match call {
        Call::Of("mean" | "min" | "max" | "median" | "first" | "last", _) => true,
        Call::Quantile(..) | Call::MovingAverage(..) => true,
        Call::Of("stddev" | "range", _) | Call::Difference(..) => false,
        _ => return None,
    })
}

/// Returns true if a value is a point of a scale, false if it is a difference; None if it is neither.
fn scale(expression: &Expression) -> Option<bool> {
    match expression {
        Expression::Call(call, _) | Expression::Offset(call, ..) => is_point(call),
        Expression::Along(Along::Alpha(_) | Along::HalfLife(_), call, _) => is_point(call),
        Expression::Along(Along::Difference, call, _) => is_point(call).map(|_| false),
        Expression::Along(_, call, _) => is_point(call).filter(|is_point| !is_point),
        Expression::Negate(of) => scale(of).filter(|is_point| !is_point),
        Expression::Number(_) | Expression::Tariff(..) | Expression::Two(..) => None,
    }
}

/// Returns the factor and the summand of a conversion; None if the unit does not fit.
pub(crate) fn conversion(expression: &Expression, unit: &str) -> Option<(f64, f64)> {
    if matches!(expression, Expression::Call(call, _) if call.is_vector()) {
        return None;
    }
    let from = of(expression).ok()?;
    let symbols: Vec<(&str, i32)> =
        from.iter().map(|(symbol, exponent)| (symbol.as_str(), *exponent)).collect();
    if symbols == [(unit, 1)] {
        return Some((1.0, 0.0));
    }
    Some(match (&symbols[..], unit) {
        ([("°C", 1)], "°F") if scale(expression)? => (1.8, 32.0),
        ([("°C", 1)], "K") if scale(expression)? => (1.0, 273.15),
        ([("°C", 1)], "°F") => (1.8, 0.0),
        ([("°C", 1)], "K") => (1.0, 0.0),
        ([("W", 1)], "kW") => (1e-3, 0.0),
        ([("W", 1), ("h", 1)], "kWh") => (1e-3, 0.0),
        ([("W", 1), ("h", 1)], "MJ") => (3.6e-3, 0.0),
        ([("kWh", 1)], "MJ") => (3.6, 0.0),
        ([("kWh", 1)], "Wh") => (1e3, 0.0),
        ([("m", 1)], "cm") => (100.0, 0.0),
        ([("mm", 1)], "m") => (1e-3, 0.0),
        ([("h", 1)], "min") => (60.0, 0.0),
        ([("h", 1)], "d") => (1.0 / 24.0, 0.0),
        _ => return None,
    })
}
