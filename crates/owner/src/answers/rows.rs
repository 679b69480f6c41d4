//! The rows of an answer, from the tallies of its groups.

use std::rc::Rc;

use super::along::{OfCall, Series};
use super::answer::Row;
use super::assurance::Assurance;
use super::column::{Column, Of, OfDevices, RowTimes};
use super::priced;
use crate::functions::{Call, Part, Time, Yields};
use crate::gathered::{Channels, Counted, Gathered};
use crate::question::{
    Along, Asked, AskedCall, AskedResult, CallArithmetic, OfGroups, Offset, Priced, conversion, unit_of,
};
use crate::units::Conversion;
use crate::value::{Value, ValueError};
use crate::windows::RowTime;

/// Returns the rows of an answer, group after group. `series` has the values along groups.
pub(crate) fn rows(
    asked: &Asked<'_>,
    RowTimes { times, hidden }: RowTimes<'_>,
    columns: &[Column],
    series: &Series,
    channels: &dyn Channels,
) -> Vec<Row> {
    let units: Vec<UnitOf> = asked.results.iter().map(|result| UnitOf::of(result, channels)).collect();
    let mut rows = Vec::new();
    for (at, time) in times.iter().enumerate().skip(hidden) {
        for (Column { of, of_call }, column) in columns.iter().zip(0..) {
            let from = From { of_call, at, channels };
            for ((result, unit), position) in asked.results.iter().zip(&units).zip(0..) {
                let named = named(result, of, *time);
                let along = series.of(column, position);
                from.add_rows(result, along, unit, &named, &mut rows);
            }
        }
    }
    rows
}

/// Returns the row of a result without a value.
fn named(result: &AskedResult<'_>, of: &Of, RowTime { group, recurs }: RowTime) -> Row {
    let (device, tag) = match of {
        Of::All => (None, None),
        Of::Device(name) => (Some(name.clone()), None),
        Of::Tag(tag) => (None, Some(tag.clone())),
    };
    Row {
        from: String::new(),
        to: String::new(),
        device,
        tag,
        rank: None,
        name: result.name.clone(),
        value: None,
        bound: None,
        unit: String::new(),
        count: 0,
        missing: 0,
        assurance: Assurance::Authenticated,
        held_back: false,
        why: None,
        bin: None,
        interpolated: false,
        recurs,
        at: None,
        at_ms: None,
        from_ms: group.from,
        to_ms: group.to,
    }
}

/// The unit of a result, which is that of all its rows.
struct UnitOf {
    name: String,
    /// The conversion into the unit of `in`; None if a channel's unit was changed since the question was checked.
    conversion: Option<Option<Conversion>>,
}

impl UnitOf {
    fn of(result: &AskedResult<'_>, channels: &dyn Channels) -> Self {
        let conversion = conversion(result.expression, result.unit, channels).ok();
        let name = match (conversion, result.unit) {
            (Some(Some(_)), Some(to)) => to.to_owned(),
            _ => unit_of(result.expression, channels).unwrap_or_default(),
        };
        Self { name, conversion }
    }

    fn convert(&self, value: Value) -> Result<Value, ValueError> {
        match self.conversion {
            Some(Some(conversion)) => Ok(value.converted(conversion, &self.name)),
            Some(None) => Ok(value),
            None => Err(ValueError::Undetermined("its unit cannot be converted")),
        }
    }
}

/// The tallies of a group and of those before it.
#[derive(Clone, Copy)]
struct From<'t> {
    of_call: &'t [Rc<OfDevices>],
    /// The number of the group.
    at: usize,
    channels: &'t dyn Channels,
}

impl<'t> From<'t> {
    fn call(&self, asked: &'t AskedCall<'_>) -> Gathered<'t> {
        Gathered::new(&self.of_call[asked.number].tallies[..=self.at], &asked.needs, self.channels)
    }

    /// Returns a call's value, or its cost.
    fn value(&self, asked: &AskedCall<'_>, own: Counted) -> Counted {
        let OfGroups::Priced(of) = asked.groups else { return own };
        let parts = self.of_call[asked.number].priced.get(&of.file).and_then(|rows| rows.get(self.at));
        priced::cost(asked, of, parts, own, self.channels)
    }

    /// Returns how far the calls of a result are checked.
    fn assurance(&self, result: &AskedResult<'_>, along: &[Option<OfCall>]) -> Assurance {
        let untagged = |(asked, along): (&AskedCall<'_>, &Option<OfCall>)| match along {
            Some(along) => along.is_untagged(self.at),
            None => self.call(asked).is_untagged(asked.call.syntax().across_groups),
        };
        if result.calls.iter().zip(along).any(untagged) {
            Assurance::Unchecked
        } else {
            Assurance::Authenticated
        }
    }

    /// Adds the rows of a result. `named` is the row without a value.
    fn add_rows(
        &self,
        result: &AskedResult<'_>,
        along: &[Option<OfCall>],
        unit: &UnitOf,
        named: &Row,
        rows: &mut Vec<Row>,
    ) {
        let named = &Row { assurance: self.assurance(result, along), ..named.clone() };
        if let (Some(call), [asked]) = (result.expression.only_call(), &result.calls[..])
            && let Yields::Several(several) = call.of().yields()
        {
            let parts = several.values(&self.call(asked));
            rows.extend(parts.into_iter().map(|part| named.clone().with_part(part)));
            return;
        }
        let at_ms = match (result.expression.only_call(), &result.calls[..]) {
            (Some(call), [asked]) => match call.of().yields() {
                Yields::One(of) => of.instant(&self.call(asked)),
                Yields::Several(_) => None,
            },
            _ => None,
        };
        let calls = result.calls.iter().zip(along);
        let mut fold = Fold { from: *self, calls, count: None, missing: 0 };
        let value = result.expression.fold(&mut fold);
        let value = value.and_then(|value| unit.convert(value));
        let counted = Counted { value, count: fold.count.unwrap_or_default(), missing: fold.missing };
        let row = named.clone().with(counted, unit.name.clone());
        rows.push(Row { at_ms: at_ms.filter(|_| row.value.is_some()), ..row });
    }
}

impl Row {
    /// Returns the row with a value. `unit` is the unit where there is none.
    fn with(self, Counted { value, count, missing }: Counted, unit: String) -> Self {
        let row = Self { unit, count, missing, ..self };
        match value {
            Ok(value) if value.value.is_finite() && value.bound.is_finite() => {
                Self { value: Some(value.value), bound: Some(value.bound), unit: value.unit, ..row }
            }
            Ok(_) => Self { why: Some("the value is too large to be told".to_owned()), ..row },
            Err(ValueError::Earlier(why)) => Self { why: Some(why), ..row },
            Err(_) if row.count == 0 => row,
            Err(error) => Self { why: Some(error.to_string()), ..row },
        }
    }

    /// Returns the row with one of several values.
    fn with_part(self, Part { name, counted, unit, bin, time, interpolated }: Part) -> Self {
        let Time { from, to } = time.unwrap_or(Time { from: self.from_ms, to: self.to_ms });
        let name = self.name.clone() + &name;
        Self { name, bin, interpolated, from_ms: from, to_ms: to, ..self.with(counted, unit) }
    }
}

/// Arithmetic on the values of calls, which come in the order of the text.
struct Fold<'t, C> {
    from: From<'t>,
    calls: C,
    /// The smallest number of readings of a call.
    count: Option<u64>,
    /// The largest number of missing readings.
    missing: u64,
}

impl<'t, C: Iterator<Item = (&'t AskedCall<'t>, &'t Option<OfCall>)>> Fold<'t, C> {
    /// Returns the value of the next call in this group, along groups or in an earlier one, and counts its readings.
    fn next(&mut self) -> Result<Value, ValueError> {
        let counted = match self.calls.next() {
            Some((_, Some(along))) => along.value(self.from.at),
            Some((asked, None)) => match asked.call.of().yields() {
                Yields::One(of) => self.from.value(asked, of.value(&self.from.call(asked))),
                Yields::Several(_) => Counted::nothing(),
            },
            None => Counted::nothing(),
        };
        self.count = Some(self.count.map_or(counted.count, |count| count.min(counted.count)));
        self.missing = self.missing.max(counted.missing);
        counted.value
    }
}

impl<'t, C: Iterator<Item = (&'t AskedCall<'t>, &'t Option<OfCall>)>> CallArithmetic for Fold<'t, C> {
    type Value = Value;
    type Error = ValueError;

    fn number(&mut self, number: f64) -> Result<Value, ValueError> {
        Ok(Value::exact(number))
    }

    fn call(&mut self, _: &Call) -> Result<Value, ValueError> {
        self.next()
    }

    fn along(&mut self, _: &Along) -> Result<Value, ValueError> {
        self.next()
    }

    fn offset(&mut self, _: &Offset) -> Result<Value, ValueError> {
        self.next()
    }

    fn priced(&mut self, _: &Priced) -> Result<Value, ValueError> {
        self.next()
    }

    fn negate(&mut self, of: Value) -> Result<Value, ValueError> {
        Ok(of.negated())
    }

    fn add(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        left.plus(&right)
    }

    fn subtract(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        left.plus(&right.negated())
    }

    fn multiply(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        Ok(left.times(&right))
    }

    fn divide(&mut self, left: Value, right: Value) -> Result<Value, ValueError> {
        left.over(&right)
    }
}
