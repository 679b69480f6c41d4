//! Answers as columns.

use std::collections::BTreeMap;

use numpy::IntoPyArray as _;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sotto_owner::Answer;
use sotto_owner::question::{Cycle, Recurs};

/// Returns an answer's rows as columns, and its facts. Missing values are NaN; times are milliseconds since 1970; the keys of
/// groups that recur are None in other rows.
pub(super) fn columns<'py>(
    py: Python<'py>,
    answer: &Answer,
    name: Option<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let (rows, columns) = (&answer.rows, PyDict::new(py));
    let reals = |of: fn(&sotto_owner::Row) -> Option<f64>| {
        rows.iter().map(|row| of(row).unwrap_or(f64::NAN)).collect::<Vec<_>>().into_pyarray(py)
    };
    let whole = |of: fn(&sotto_owner::Row) -> i64| rows.iter().map(of).collect::<Vec<_>>().into_pyarray(py);
    columns.set_item("from", whole(|row| row.from_ms))?;
    columns.set_item("to", whole(|row| row.to_ms))?;
    columns.set_item("device", rows.iter().map(|row| row.device.as_deref()).collect::<Vec<_>>())?;
    columns.set_item("tag", rows.iter().map(|row| row.tag.as_deref()).collect::<Vec<_>>())?;
    columns.set_item("place", rows.iter().map(|row| row.rank.map(|rank| rank.place)).collect::<Vec<_>>())?;
    columns.set_item("name", rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>())?;
    let recurs = |of: fn(&Recurs) -> Option<u8>| -> Vec<Option<u8>> {
        rows.iter().map(|row| row.recurs.as_ref().and_then(of)).collect()
    };
    let weekdays = rows.iter().map(|row| row.recurs.and_then(|recurs| recurs.key(Cycle::Weekday)));
    columns.set_item("hour_of_day", recurs(|of| of.hour_of_day))?;
    columns.set_item("weekday", weekdays.collect::<Vec<_>>())?;
    columns.set_item("month_of_year", recurs(|of| of.month_of_year))?;
    columns.set_item("value", reals(|row| row.value))?;
    columns.set_item("bound", reals(|row| row.bound))?;
    columns.set_item("unit", rows.iter().map(|row| row.unit.as_str()).collect::<Vec<_>>())?;
    columns.set_item("readings", whole(|row| i64::try_from(row.count).unwrap_or(i64::MAX)))?;
    columns.set_item("missing", whole(|row| i64::try_from(row.missing).unwrap_or(i64::MAX)))?;
    columns.set_item("assurance", rows.iter().map(|row| row.assurance.to_string()).collect::<Vec<_>>())?;
    columns.set_item("why", rows.iter().map(|row| row.why.as_deref()).collect::<Vec<_>>())?;
    let facts = PyDict::new(py);
    facts.set_item("columns", columns)?;
    facts.set_item("question", &answer.question)?;
    facts.set_item("name", name)?;
    facts.set_item("time_zone", &answer.time_zone)?;
    facts.set_item("assurance", answer.assurance().to_string())?;
    facts.set_item("remarks", answer.remarks())?;
    facts.set_item("took_part", &answer.took_part)?;
    let left_out = PyDict::new(py);
    for (channel, counts) in &answer.left_out {
        let counts: BTreeMap<_, _> = counts.iter().map(|(reason, count)| (reason.words(), count)).collect();
        left_out.set_item(channel, counts)?;
    }
    facts.set_item("left_out", left_out)?;
    let cost = PyDict::new(py);
    cost.set_item("bytes_up", answer.bytes_up)?;
    cost.set_item("bytes_down", answer.bytes_down)?;
    cost.set_item("seconds", answer.seconds)?;
    cost.set_item("windows", answer.windows)?;
    cost.set_item("jobs", answer.jobs)?;
    cost.set_item("cached", answer.cached)?;
    cost.set_item("evaluate_us", answer.evaluate_us)?;
    facts.set_item("cost", cost)?;
    Ok(facts)
}
