//! Random results: calls, and arithmetic on them.

use super::house::{CHANNELS, DEVICES, DOOR, INLET, LEVEL, METER, POWER, RAIN, TEMP, WIND};
use super::language::{Along, Call, Condition, Earlier, Expression, Position, Scope};
use super::numbers::Numbers;

/// Returns a result.
pub(super) fn expression(numbers: &mut Numbers) -> Expression {
    match numbers.below(14) {
        0..7 => {
            let call = call(numbers);
            let scope = scope(numbers, &call);
            Expression::Call(call, scope)
        }
        7 => {
            let along = numbers.one(&[
                Along::Cumulative,
                Along::Difference,
                Along::Rate,
                Along::Alpha(0.3),
                Along::Alpha(1.0),
                Along::HalfLife(36),
            ]);
            let call = summed(numbers);
            let scope = scope(numbers, &call);
            Expression::Along(along, call, scope)
        }
        8 => {
            let earlier = numbers.one(&[
                Earlier::Previous,
                Earlier::Time(1, "d"),
                Earlier::Time(1, "w"),
                Earlier::Time(24, "h"),
                Earlier::Time(6, "h"),
                Earlier::Time(1, "mo"),
                Earlier::Time(1, "y"),
            ]);
            let call = if numbers.once_in(3) { call(numbers) } else { summed(numbers) };
            let scope = scope(numbers, &call);
            Expression::Offset(call, scope, earlier)
        }
        9 if numbers.once_in(2) => {
            let call = numbers.one(&[("energy", POWER), ("increase", METER)]);
            Expression::Tariff(Call::Of(call.0, call.1), None)
        }
        10 => Expression::Negate(Box::new(operand(numbers))),
        _ => {
            let left = operand(numbers);
            // The same unit more often than another one.
            let right = match numbers.below(4) {
                0 => Expression::Number(numbers.one(&[2.0, 0.5, 10.0, 0.0, 1.25])),
                1 => operand(numbers),
                _ => match &left {
                    Expression::Call(call, _) if !call.is_vector() => {
                        let scope = scope(numbers, call);
                        Expression::Call(call.clone(), scope)
                    }
                    _ => operand(numbers),
                },
            };
            let sign = numbers.one(&['+', '-', '-', '*', '/']);
            let two = Expression::Two(sign, Box::new(left), Box::new(right));
            match numbers.below(5) {
                0 => Expression::Two(
                    numbers.one(&['*', '/']),
                    Box::new(two),
                    Box::new(Expression::Number(2.5)),
                ),
                1 => Expression::Two('-', Box::new(operand(numbers)), Box::new(two)),
                _ => two,
            }
        }
    }
}

fn operand(numbers: &mut Numbers) -> Expression {
    match numbers.below(5) {
        0 => expression(numbers),
        _ => {
            let call = summed(numbers);
            let scope = scope(numbers, &call);
            Expression::Call(call, scope)
        }
    }
}

fn scope(numbers: &mut Numbers, call: &Call) -> Option<Scope> {
    if matches!(call, Call::TwoOf(..)) || !numbers.once_in(4) {
        return None;
    }
    let device = numbers.below(DEVICES.len());
    Some(numbers.one(&[
        Scope::Device(device),
        Scope::Device(device),
        Scope::All,
        Scope::Tag("barn"),
        Scope::Tag("grid"),
    ]))
}

/// Returns a call with one value, which readings determine.
fn summed(numbers: &mut Numbers) -> Call {
    let x = gauge(numbers);
    match numbers.below(10) {
        0 => Call::Of("count", any_channel(numbers)),
        1 => Call::Of("sum", x),
        2 => Call::Of("energy", x),
        3 => Call::Of("increase", METER),
        4 => Call::Of(numbers.one(&["min", "max", "stddev", "rms"]), x),
        5 => Call::Where("count", condition(numbers)),
        6 => Call::Degrees("degree_days", TEMP, numbers.once_in(2), 11.0),
        _ => Call::Of("mean", x),
    }
}

fn call(numbers: &mut Numbers) -> Call {
    let x = gauge(numbers);
    let below = numbers.once_in(2);
    match numbers.below(34) {
        0 => Call::Of("count", any_channel(numbers)),
        1 => Call::Of("coverage", any_channel(numbers)),
        2 => Call::Of("changes", any_channel(numbers)),
        3 => Call::Of("direction", if numbers.once_in(20) { x } else { WIND }),
        4 => Call::Of("increase", METER),
        5..14 => {
            let functions =
                ["sum", "mean", "variance", "stddev", "rms", "energy", "min", "max", "range", "median"];
            Call::Of(numbers.one(&functions), x)
        }
        14 => Call::Of(numbers.one(&["first", "last"]), any_channel(numbers)),
        15 => Call::Of(numbers.one(&["time_of_max", "time_of_min"]), x),
        16..20 => {
            Call::Where(numbers.one(&["count", "time", "share", "longest", "episodes"]), condition(numbers))
        }
        20 => Call::Degrees("degree_days", TEMP, below, 11.0),
        21 => Call::Degrees("degree_hours", x, below, limit(numbers, x)),
        22 | 23 => {
            let (x, y) =
                numbers.one(&[(TEMP, POWER), (TEMP, RAIN), (INLET, TEMP), (POWER, METER), (TEMP, TEMP)]);
            // The covariance of a channel with itself is its variance.
            let functions = ["correlation", "regression", "covariance"];
            Call::Two(numbers.one(&functions[..if x == y { 2 } else { 3 }]), x, y)
        }
        24 => {
            let two = [
                [(TEMP, 0), (TEMP, 1)],
                [(POWER, 0), (POWER, 2)],
                [(TEMP, 1), (LEVEL, 2)],
                [(RAIN, 1), (METER, 0)],
            ];
            Call::TwoOf(numbers.one(&["covariance", "correlation", "regression"]), numbers.one(&two))
        }
        25 => Call::Weights(
            x,
            numbers.one(&[&[1.0, 2.0][..], &[-1.0, 1.0], &[0.5, 0.0, 3.5], &[1.0, 1.0, -3.0, 2.0]]).to_vec(),
        ),
        26 => Call::HalfLife(x, numbers.one(&[6, 48])),
        27 => Call::MovingAverage(x, numbers.one(&[2, 3, 7])),
        28 => Call::Quantile(x, numbers.one(&[0.95, 0.1, 0.5, 1.0, 0.0])),
        29 => {
            let (x, y) = numbers.one(&[(TEMP, INLET), (INLET, TEMP), (TEMP, POWER)]);
            Call::Difference(numbers.one(&["min", "max"]), x, y)
        }
        30 => Call::Bins(x, numbers.one(&[4, 16, 10])),
        31 => {
            let (one, other) = (limit(numbers, x), limit(numbers, x));
            match one == other {
                true => Call::Bins(x, 8),
                false => {
                    Call::Edges(x, vec![CHANNELS[x].low, one.min(other), one.max(other), CHANNELS[x].high])
                }
            }
        }
        32 if numbers.once_in(4) => {
            Call::Polynomial(numbers.one(&["mean", "sum"]), LEVEL, vec![1.0, -0.5, 0.25])
        }
        32 => Call::Interpolate(x, numbers.one(&[None, Some(2), Some(12)])),
        _ => Call::Spectrum(x, numbers.one(&[2, 4, 5])),
    }
}

fn gauge(numbers: &mut Numbers) -> Position {
    numbers.one(&[TEMP, TEMP, TEMP, POWER, POWER, METER, RAIN, LEVEL, INLET])
}

fn any_channel(numbers: &mut Numbers) -> Position {
    numbers.below(CHANNELS.len())
}

/// Returns a limit within the declared range, on a multiple of the resolution or beside one.
fn limit(numbers: &mut Numbers, x: Position) -> f64 {
    numbers.one(match x {
        TEMP => &[5.0, 20.0, 12.3, 0.0, 15.04],
        POWER => &[1000.0, 2500.0, 300.5],
        METER => &[200.0, 512.25, 40.0],
        RAIN => &[0.5, 1.0, 2.5],
        WIND => &[180.0, 270.0],
        INLET => &[40.0, 55.5, 61.2],
        _ => &[2.0, 3.5, 1.234],
    })
}

fn condition(numbers: &mut Numbers) -> Condition {
    let x = any_channel(numbers);
    if x == DOOR {
        return Condition::State(x, numbers.once_in(2), numbers.once_in(2));
    }
    let (one, other) = (limit(numbers, x), limit(numbers, x));
    if one < other {
        return Condition::Between(x, (one, numbers.once_in(2)), (other, numbers.once_in(2)));
    }
    let signs: &[&str] = if (one / CHANNELS[x].resolution).fract() == 0.0 {
        &[">", "<", ">=", "<=", "=", "!="]
    } else {
        &[">", "<", ">=", "<="]
    };
    Condition::Side(x, numbers.one(signs), one)
}
