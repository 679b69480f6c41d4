//! Random questions of the grammar, with the names of the house.

use super::expressions::expression;
use super::house::DEVICES;
use super::language::{By, Call, Cycle, Dates, Expression, Period, Question, Rows, Scope, Selected, Where};
use super::numbers::Numbers;
use super::refusals::{parts, refusal};

/// The most rows that functions along groups and spectra are asked for.
const FEW: i64 = 100;

/// Returns a question. One in twelve may be one that is refused.
pub(crate) fn question(numbers: &mut Numbers) -> Question {
    let is_careless = numbers.once_in(12);
    loop {
        let question = any_question(numbers);
        if !is_too_large(&question) && (is_careless || refusal(&question).is_none()) {
            return question;
        }
    }
}

fn any_question(numbers: &mut Numbers) -> Question {
    let by = by(numbers);
    let is_fine = matches!(by, Some(By::Minutes(_) | By::Hour));
    let rows = numbers.one(&[Rows::Across, Rows::Across, Rows::Device, Rows::Tag]);
    let ranking = numbers.once_in(12).then(|| (numbers.once_in(2), 1 + numbers.below(3)));
    let rows = if ranking.is_some() && rows == Rows::Across { Rows::Device } else { rows };
    let number = 1 + numbers.below(3);
    let select = (0..number).map(|at| selected(numbers, at)).collect();
    Question { ranking, select, period: period(numbers, is_fine), by, rows, conditions: conditions(numbers) }
}

/// Returns true for questions whose answers are long, or that this test has no opinion about.
fn is_too_large(question: &Question) -> bool {
    let days = match &question.period {
        Period::Over(count, "h") => count / 24 + 1,
        Period::Over(count, "d") => *count,
        Period::Over(count, _) => 7 * count,
        Period::During(span) if span.len() == 10 => 1,
        Period::Between(Some("2025-03-28"), Some("2025-03-31T12:00")) => 4,
        Period::Between(Some("2025-03-30T01:30:00+01:00"), Some("2025-03-30T12:00")) => 1,
        _ => 28,
    };
    let rows = days
        * match question.by {
            Some(By::Minutes(minutes)) => 24 * 60 / minutes,
            Some(By::Hour) => 24,
            _ => 1,
        };
    let all = || question.select.iter().flat_map(|selected| parts(&selected.of));
    let is_along = all().any(|of| matches!(of, Expression::Along(..)));
    let of_one_device = |call: &Call| matches!(call, Call::Interpolate(..) | Call::Spectrum(..));
    let is_long = |call: &Call| match call {
        Call::Spectrum(..) => {
            days > 7 && question.by.is_none_or(|by| !matches!(by, By::Day | By::Week | By::Minutes(_)))
        }
        Call::Interpolate(..) => days > 3,
        Call::MovingAverage(..) => rows > 7 * FEW,
        Call::Polynomial(..) => rows > FEW,
        _ => false,
    };
    let calls = question.calls();
    let is_across = |(call, scope): &(&Call, Option<Scope>)| {
        of_one_device(call) && question.rows != Rows::Device && !matches!(scope, Some(Scope::Device(_)))
            || of_one_device(call) && matches!(scope, Some(Scope::All | Scope::Tag(_)))
    };
    let ranks_vectors = question.ranking.is_some() && calls.iter().any(|(call, _)| call.is_vector());
    is_along && rows > FEW
        || calls.iter().any(|(call, _)| is_long(call))
        || calls.iter().any(is_across)
        || ranks_vectors
        || rows > 3000
}

fn by(numbers: &mut Numbers) -> Option<By> {
    Some(match numbers.below(16) {
        0..3 => return None,
        3 => By::Window,
        4 => By::Minutes(numbers.one(&[15, 30, 60 * 2, 60 * 3, 60 * 6, 60 * 12])),
        5 => By::Hour,
        6..9 => By::Day,
        9 | 10 => By::Week,
        11 => By::Month,
        12 => numbers.one(&[By::MonthFrom(21), By::MonthFrom(2)]),
        13 => numbers.one(&[By::Quarter, By::Year]),
        _ => {
            let all = [Cycle::Hour, Cycle::Weekday, Cycle::Month];
            let (one, other) = (numbers.one(&all), numbers.one(&all));
            By::Recurring(one, (one != other).then_some(other))
        }
    })
}

fn period(numbers: &mut Numbers, is_fine: bool) -> Period {
    let short = [
        Period::Over(1, "d"),
        Period::Over(30, "h"),
        Period::Over(3, "d"),
        Period::During("2025-03-30"),
        Period::During("2025-03-19"),
        Period::Between(Some("2025-03-28"), Some("2025-03-31T12:00")),
        Period::Between(Some("2025-03-30T01:30:00+01:00"), Some("2025-03-30T12:00")),
    ];
    let long = [
        Period::Over(1, "w"),
        Period::Over(2, "w"),
        Period::Over(9, "d"),
        Period::During("2025-03"),
        Period::During("2025-04"),
        Period::During("2025-Q1"),
        Period::During("2025"),
        Period::During("2024-12"),
        Period::Between(Some("2025-03-20"), None),
        Period::Between(Some("2025-03-17T06:30"), Some("2025-04-02")),
        Period::Between(None, Some("2025-03-24T18:00")),
        Period::Between(Some("2025-03-24"), Some("2025-03-31")),
        Period::Between(Some("2025-06-01"), None),
        Period::All,
    ];
    match numbers.below(10) {
        0..5 if !is_fine => Period::All,
        _ if is_fine && !numbers.once_in(8) => short[numbers.below(short.len())].clone(),
        _ if numbers.once_in(4) => short[numbers.below(short.len())].clone(),
        _ => long[numbers.below(long.len())].clone(),
    }
}

fn conditions(numbers: &mut Numbers) -> Where {
    let mut conditions = Where::default();
    if numbers.once_in(8) {
        let first = numbers.below(DEVICES.len());
        conditions.devices = vec![first];
        conditions.devices.extend(numbers.once_in(2).then_some((first + 1) % DEVICES.len()));
    }
    if numbers.once_in(12) {
        conditions.tags = vec![numbers.one(&["barn", "north", "grid"])];
    }
    if numbers.once_in(9) {
        let minute = |numbers: &mut Numbers| 15 * numbers.below(96) as i64;
        let (from, to) = (minute(numbers), minute(numbers));
        conditions.time = (from != to).then_some((from, to));
    }
    if numbers.once_in(10) {
        conditions.weekdays = numbers.one(&[&[5, 6][..], &[0], &[0, 1, 2, 3, 4]]).to_vec();
    }
    if numbers.once_in(16) {
        conditions.months = numbers.one(&[&[3][..], &[4, 12], &[1]]).to_vec();
    }
    if numbers.once_in(12) {
        conditions.dates = Some(Dates { not: numbers.once_in(2), file: numbers.once_in(2) });
    }
    conditions
}

fn selected(numbers: &mut Numbers, at: usize) -> Selected {
    let of = expression(numbers);
    let unit = (!matches!(of, Expression::Two(..)) && numbers.once_in(8))
        .then(|| numbers.one(&["°F", "K", "kW", "kWh", "MJ", "Wh", "cm", "m", "min", "d"]));
    // Names make results different that are not.
    Selected { of, unit, name: Some(format!("r{at}")) }
}

/// Returns a text in which a word is missing, comes twice or stands in another place.
pub(crate) fn mangled(text: &str, numbers: &mut Numbers) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '(', ')', ',']).collect();
    let (one, other) = (numbers.below(words.len()), numbers.below(words.len()));
    match numbers.below(3) {
        0 => drop(words.remove(one)),
        1 => words.insert(other, words[one]),
        _ => words.swap(one, other),
    }
    words.concat()
}
