//! Compares an answer with the rows that the interpreter expects.

use sotto_owner::{Answer, Row as Found};

use super::interpreter::Row;
use super::language::{By, Call, Cycle, Expression, Question};
use super::truth::{Outcome, Truth};

/// The largest relative rounding error of f64.
const ROUNDING: f64 = 1e-9;
/// A bound may exceed the documented one by this fraction, for the rounding error that it includes.
const SLACK: f64 = 1e-6;

/// Returns the first difference of an answer from its expected rows; None if there is none.
pub(crate) fn fault(question: &Question, expected: &[Row], answer: &Answer) -> Option<String> {
    if let Some((top, count)) = question.ranking {
        return fault_of_order(question, (top, count), expected, answer);
    }
    let mut found = answer.rows.iter();
    for row in expected {
        for (part, outcome) in row.outcomes.iter().enumerate() {
            let Some(found) = found.next() else {
                return Some(format!("there is no row of {}", named(question, row)));
            };
            let wrong =
                place(question, row, found).or_else(|| difference(question, row.selected, outcome, found));
            if let Some(wrong) = wrong {
                return Some(format!("{}[{part}] at {}: {wrong}", named(question, row), found.from));
            }
        }
    }
    found.next().map(|found| {
        format!("the row {} of {:?} at {} is one too many", found.name, found.subject(), found.from)
    })
}

fn named(question: &Question, row: &Row) -> String {
    format!("{} of {}", question.select[row.selected].of, row.subject.unwrap_or("all"))
}

/// Returns the difference of a row's group and device from the expected ones.
fn place(question: &Question, row: &Row, found: &Found) -> Option<String> {
    if found.subject() != row.subject {
        return Some(format!("it is of {:?}, not {:?}", found.subject(), row.subject));
    }
    let own = recurs(question, found);
    if own != row.recurs {
        return Some(format!("it recurs as {own:?}, not {:?}", row.recurs));
    }
    let is_line = matches!(&question.select[row.selected].of, Expression::Call(Call::Interpolate(..), _));
    let is_there = match is_line && found.value.is_some() {
        // The time of a tick, which goes on after the end of the row.
        true => row.from <= found.from_ms && found.from_ms < row.to,
        false => (found.from_ms, found.to_ms) == (row.from, row.to),
    };
    let time = |at: i64| jiff::Timestamp::from_millisecond(at).unwrap_or_default();
    (!is_there).then(|| {
        format!("the group is {} to {}, not {} to {}", found.from, found.to, time(row.from), time(row.to))
    })
}

/// Returns the recurring group of a row, as the interpreter writes it.
fn recurs(question: &Question, found: &Found) -> Option<[i64; 2]> {
    let Some(By::Recurring(one, other)) = question.by else { return None };
    let recurs = found.recurs?;
    let of = |cycle: Cycle| match cycle {
        Cycle::Hour => recurs.hour_of_day.map(i64::from),
        Cycle::Weekday => recurs.weekday.map(|day| day as i64),
        Cycle::Month => recurs.month_of_year.map(i64::from),
    };
    Some([of(one)?, other.map_or(Some(0), of)?])
}

/// Returns the difference of a row's value from an outcome; None if there is none.
fn difference(question: &Question, selected: usize, outcome: &Outcome, found: &Found) -> Option<String> {
    let (Some(value), Some(bound)) = (found.value, found.bound) else {
        let may_be = outcome.is_empty() || outcome.may_be_empty;
        return (!may_be).then(|| format!("there is no value, but {:?}; {:?}", outcome.values, found.why));
    };
    if outcome.is_empty() {
        return Some(format!("it is {value} ± {bound}, where there is none"));
    }
    let turns = match &question.select[selected].of {
        Expression::Call(Call::Of("direction", _), _) => &[-360.0, 0.0, 360.0][..],
        _ => &[0.0],
    };
    let near = |truth: &Truth, turn: f64| {
        let digits = ROUNDING * (1.0 + truth.low.abs().max(truth.high.abs()));
        value - bound <= truth.low + turn + digits && value + bound >= truth.high + turn - digits
    };
    let Some(truth) = outcome.values.iter().find(|truth| turns.iter().any(|turn| near(truth, *turn))) else {
        return Some(format!("{value} ± {bound} is not {:?}", outcome.values));
    };
    let most =
        truth.most.max((truth.high - truth.low) / 2.0) * (1.0 + SLACK) + ROUNDING * (1.0 + value.abs());
    (bound > most).then(|| format!("the bound {bound} of {value} is above {most}"))
}

/// Compares an answer about the first devices in each group.
fn fault_of_order(
    question: &Question,
    (top, count): (bool, usize),
    expected: &[Row],
    answer: &Answer,
) -> Option<String> {
    let mut found = &answer.rows[..];
    let mut expected = expected;
    while let Some(first) = expected.first() {
        let key = |row: &Row| (row.from, row.to, row.recurs);
        let size = expected.iter().take_while(|row| key(row) == key(first)).count();
        let (group, rest) = expected.split_at(size);
        expected = rest;
        let decides = |row: &&Row| row.selected == 0;
        let sure = group
            .iter()
            .filter(decides)
            .filter(|row| !row.outcomes[0].is_empty() && !row.outcomes[0].may_be_empty)
            .count();
        let perhaps = group.iter().filter(decides).filter(|row| !row.outcomes[0].is_empty()).count();
        let is_in = |row: &&Found| (row.from_ms, row.to_ms, recurs(question, row)) == key(first);
        let shown = found.iter().take_while(is_in).count() / question.select.len();
        if shown < sure.min(count) || shown > perhaps.min(count) {
            return Some(format!(
                "{shown} devices at {}, not {}",
                found.first().map_or("", |row| &row.from),
                sure.min(count)
            ));
        }
        let (rows, after) = found.split_at(shown * question.select.len());
        found = after;
        let mut last: Option<(f64, f64)> = None;
        for row in rows {
            let selected =
                question.select.iter().position(|selected| selected.name.as_deref() == Some(&row.name))?;
            let of = |own: &&Row| own.selected == selected && own.subject == row.device.as_deref();
            let Some(own) = group.iter().find(of) else { return Some(format!("no row of {:?}", row.device)) };
            if let Some(wrong) = difference(question, selected, &own.outcomes[0], row) {
                return Some(format!("{} at {}: {wrong}", named(question, own), row.from));
            }
            if let (0, Some(value)) = (selected, row.value) {
                let sign = if top { -1.0 } else { 1.0 };
                if last.is_some_and(|(before, _)| sign * before > sign * value) {
                    return Some(format!("{value} at {} stands behind {last:?}", row.from));
                }
                last = Some((value, row.bound.unwrap_or_default()));
            }
        }
        // A device that is not shown is not before one that is, but for the bounds.
        for own in group
            .iter()
            .filter(decides)
            .filter(|own| !rows.iter().any(|row| row.device.as_deref() == own.subject))
        {
            let Some(truth) = own.outcomes[0].values.first() else { continue };
            let Some((value, bound)) = last.filter(|_| shown == count) else { continue };
            let slack = bound + truth.most + ROUNDING * (1.0 + value.abs());
            let is_before = if top { truth.low > value + slack } else { truth.high < value - slack };
            if is_before {
                return Some(format!("{:?} is left out with {truth:?}, and {value} is shown", own.subject));
            }
        }
    }
    found
        .first()
        .map(|row| format!("the row {} of {:?} at {} is one too many", row.name, row.device, row.from))
}
