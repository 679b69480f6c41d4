//! The questions that the documentation says are refused, and why.

use std::collections::BTreeSet;

use super::house::{CHANNELS, DEVICES, HOUR, Kind};
use super::interpreter::{measures, takes};
use super::language::{Along, By, Call, Cycle, Earlier, Expression, Position, Question, Rows, Scope};
use super::units;

/// Returns the documented reason why a question is refused; None if it is answered.
pub(crate) fn refusal(question: &Question) -> Option<&'static str> {
    let calls = question.calls();
    let by = question.by;
    let recurs = matches!(by, Some(By::Recurring(..)));
    let conditions = &question.conditions;
    let on_time = conditions.time.is_some()
        || conditions.dates.is_some()
        || !conditions.weekdays.is_empty()
        || !conditions.months.is_empty();
    let any = |is: &dyn Fn(&Call) -> bool| calls.iter().any(|(call, _)| is(call));
    let periods: BTreeSet<i64> =
        calls.iter().flat_map(|(call, _)| call.channels()).map(|x| CHANNELS[x].period).collect();
    let rules: [(bool, &'static str); 13] = [
        (
            by == Some(By::Window)
                && (periods.len() > 1 || question.select.iter().any(|of| is_apart(&of.of))),
            "by window, of channels in windows of their own",
        ),
        (on_time && by == Some(By::Window), "conditions on the time by window"),
        (any(&is_weighted) && (recurs || on_time), "weighted sums need a time without gaps"),
        (
            any(&|call| matches!(call, Call::MovingAverage(..))) && has_no_groups(by),
            "groups of a moving average",
        ),
        (
            any(&is_of_days) && (is_part_of_day(by) || conditions.time.is_some()),
            "degree days of parts of days",
        ),
        (any(&is_of_days) && any(&is_weighted), "weighted sums beside degree days"),
        (any(&is_of_two) && question.rows != Rows::Across, "rows beside a call of two devices"),
        (any(&is_of_two) && !conditions.tags.is_empty(), "tags beside a call of two devices"),
        (is_idle(question), "a clause about devices that no call heeds"),
        (is_too_fine(question), "groups shorter than the period"),
        (
            question.ranking.is_some()
                && question.select[0].of.calls().iter().any(|(call, _)| call.is_vector()),
            "no order",
        ),
        (question.ranking.is_some() && question.rows == Rows::Tag, "an order of devices beside tags"),
        (has_tariff(question) && tariff_is_refused(question), "a tariff beside other groups"),
    ];
    let of_question = rules.into_iter().find(|(is_refused, _)| *is_refused).map(|(_, reason)| reason);
    let of_calls = || calls.iter().find_map(|(call, scope)| of_call(question, call, *scope));
    let of_results = || question.select.iter().find_map(|selected| of_expression(question, &selected.of));
    let of_units = || {
        question.select.iter().find_map(|selected| {
            let Some(unit) = selected.unit else {
                return units::of(&selected.of).err().map(|()| "units differ");
            };
            units::conversion(&selected.of, unit).is_none().then_some("no such conversion")
        })
    };
    of_question.or_else(of_calls).or_else(of_results).or_else(of_units)
}

/// Returns true if a result has calls of reports and counters, whose windows are sent again whole, beside others; or of polynomials.
fn is_apart(of: &Expression) -> bool {
    let kind = |call: &Call| {
        let reports = matches!(CHANNELS[call.channels()[0]].kind, Kind::State | Kind::Amount | Kind::Counter);
        (reports, matches!(call, Call::Polynomial(..)))
    };
    let kinds: BTreeSet<(bool, bool)> = of.calls().into_iter().map(|(call, _)| kind(call)).collect();
    kinds.len() > 1
}

fn is_weighted(call: &Call) -> bool {
    matches!(call, Call::Weights(..) | Call::HalfLife(..))
}

fn is_of_days(call: &Call) -> bool {
    matches!(call, Call::Degrees("degree_days", ..))
}

fn is_of_two(call: &Call) -> bool {
    matches!(call, Call::TwoOf(..))
}

/// Returns true for calls that are computed from readings.
fn is_of_readings(call: &Call) -> bool {
    match call {
        Call::Of(function, _) => matches!(*function, "first" | "last" | "time_of_max" | "time_of_min"),
        Call::Where(function, _) => matches!(*function, "longest" | "episodes"),
        Call::Degrees(function, ..) => *function == "degree_hours",
        Call::TwoOf(..) | Call::Difference(..) | Call::Interpolate(..) | Call::Spectrum(..) => true,
        _ => false,
    }
}

fn has_no_groups(by: Option<By>) -> bool {
    matches!(by, None | Some(By::Window | By::Recurring(..)))
}

fn is_part_of_day(by: Option<By>) -> bool {
    match by {
        Some(By::Window | By::Hour | By::Minutes(_)) => true,
        Some(By::Recurring(one, other)) => one == Cycle::Hour || other == Some(Cycle::Hour),
        _ => false,
    }
}

/// Returns true if a clause names devices, and every call names its own.
fn is_idle(question: &Question) -> bool {
    let own = |scope: &Option<Scope>| matches!(scope, Some(Scope::Device(_) | Scope::Tag(_)));
    let conditions = &question.conditions;
    let has_clause =
        question.rows != Rows::Across || !conditions.devices.is_empty() || !conditions.tags.is_empty();
    has_clause && question.calls().iter().all(|(_, scope)| own(scope))
}

fn is_too_fine(question: &Question) -> bool {
    let Some(By::Minutes(minutes)) = question.by else { return false };
    let periods =
        question.calls().into_iter().flat_map(|(call, _)| call.channels()).map(|x| CHANNELS[x].period);
    periods.into_iter().any(|period| 60_000 * minutes < period)
}

/// Returns true if a question has a cost.
pub(crate) fn has_tariff(question: &Question) -> bool {
    question
        .select
        .iter()
        .any(|selected| parts(&selected.of).iter().any(|of| matches!(of, Expression::Tariff(..))))
}

fn tariff_is_refused(question: &Question) -> bool {
    let beside = |call: &Call| is_weighted(call) || is_of_days(call) || is_of_readings(call);
    question.by == Some(By::Window) || question.calls().iter().any(|(call, _)| beside(call))
}

/// Returns an expression and all operands in it.
pub(crate) fn parts(of: &Expression) -> Vec<&Expression> {
    let mut all = vec![of];
    match of {
        Expression::Negate(of) => all.extend(parts(of)),
        Expression::Two(_, left, right) => {
            all.extend(parts(left));
            all.extend(parts(right));
        }
        _ => {}
    }
    all
}

fn of_call(question: &Question, call: &Call, scope: Option<Scope>) -> Option<&'static str> {
    let kind = |x: Position| CHANNELS[x].kind;
    let answers = |device: &Position| takes(question, call, scope, *device) && measures(call, *device);
    let is_refused = match call {
        Call::Of("direction", x) if kind(*x) != Kind::Angle => return Some("direction of no angle"),
        Call::Two(_, x, y) | Call::Difference(_, x, y) if x == y => return Some("one channel twice"),
        Call::Difference(_, x, y) if CHANNELS[*x].unit != CHANNELS[*y].unit => return Some("units differ"),
        Call::TwoOf(_, two) => {
            let only = &question.conditions.devices;
            two.iter().any(|(x, device)| {
                !DEVICES[*device].channels.contains(x) || !only.is_empty() && !only.contains(device)
            })
        }
        _ => false,
    };
    if is_refused || !(0..DEVICES.len()).any(|device| answers(&device)) {
        return Some("no device measures it");
    }
    let Call::Weights(x, weights) = call else { return None };
    let length = match question.by {
        Some(By::Minutes(minutes)) => 60_000 * minutes,
        Some(By::Hour) => HOUR,
        _ => i64::MAX,
    };
    (weights.len() as i64 > length / CHANNELS[*x].period).then_some("more weights than readings")
}

fn of_expression(question: &Question, expression: &Expression) -> Option<&'static str> {
    let by = question.by;
    for part in parts(expression) {
        match part {
            Expression::Along(..) if has_no_groups(by) => return Some("groups along which there are none"),
            Expression::Along(along, call, _)
                if call.is_vector() || matches!(along, Along::Alpha(alpha) if *alpha <= 0.0) =>
            {
                return Some("along groups of several values");
            }
            Expression::Offset(call, ..) if is_weighted(call) || matches!(call, Call::MovingAverage(..)) => {
                return Some("an offset of averages of groups");
            }
            Expression::Offset(call, ..) if call.is_vector() => return Some("an offset of several values"),
            Expression::Offset(_, _, earlier) if !leads(by, *earlier) => {
                return Some("an offset to no whole group");
            }
            Expression::Negate(of) if matches!(&**of, Expression::Call(call, _) if call.is_vector()) => {
                return Some("arithmetic on several values");
            }
            Expression::Two('/', _, right) if matches!(**right, Expression::Number(0.0)) => {
                return Some("division by zero");
            }
            Expression::Two(_, left, right) => {
                let is_vector = |of: &Expression| matches!(of, Expression::Call(call, _) if call.is_vector());
                if is_vector(left) || is_vector(right) {
                    return Some("arithmetic on several values");
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns true if an offset leads from groups to whole ones.
fn leads(by: Option<By>, earlier: Earlier) -> bool {
    let (count, unit) = match earlier {
        Earlier::Previous => return !matches!(by, Some(By::Window | By::Recurring(..))),
        Earlier::Time(count, unit) => (count, unit),
    };
    match (by, unit) {
        (None, _) => true,
        (Some(By::Window | By::Recurring(..)), _) => false,
        (Some(By::Minutes(minutes)), "h") => 60 * count % minutes == 0,
        (Some(By::Minutes(_) | By::Hour), _) => true,
        (Some(By::Day), unit) => unit != "h",
        (Some(By::Week), "w") => true,
        (Some(By::Week), "d") => count % 7 == 0,
        (Some(By::Month | By::MonthFrom(_)), "mo" | "y") => true,
        (Some(By::Quarter | By::Year), "y") => true,
        (Some(By::Quarter), "mo") => count % 3 == 0,
        (Some(By::Year), "mo") => count % 12 == 0,
        _ => false,
    }
}
