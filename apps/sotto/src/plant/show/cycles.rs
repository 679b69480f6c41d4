//! The rows of groups that recur: a result by hour of day, by weekday, or by two of these.

use sotto_chart::extent;
use sotto_owner::question::{Cycle, Recurs};
use sotto_owner::{Answer, Row};

use super::series::{Point, base};
use super::table::cycles;

/// A result in groups that recur.
pub(super) struct Recurring<'a> {
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    /// True if its values are never below zero.
    pub(super) is_size: bool,
    /// The cycle with most groups, along the axis.
    pub(super) across: Cycle,
    /// The other one.
    pub(super) down: Option<Cycle>,
    /// The rows of each device, or of all devices.
    pub(super) devices: Vec<(Option<&'a str>, Vec<&'a Row>)>,
}

/// Returns the results of an answer whose groups recur, in the order in which their names first occur.
pub(super) fn recurring(answer: &Answer) -> Vec<Recurring<'_>> {
    let sizes = answer.sizes();
    let mut keys = cycles(&answer.rows);
    keys.sort_by_key(|cycle| std::cmp::Reverse(names(*cycle).len()));
    let Some(across) = keys.first().copied() else { return Vec::new() };
    let mut all: Vec<Recurring<'_>> = Vec::new();
    for row in answer.rows.iter().filter(|row| row.bin.is_none() && row.recurs.is_some()) {
        let name = base(&row.name);
        let at = all.iter().position(|known| known.name == name).unwrap_or_else(|| {
            let (is_size, down) = (sizes.contains(name), keys.get(1).copied());
            all.push(Recurring { name, unit: "", is_size, across, down, devices: Vec::new() });
            all.len() - 1
        });
        let result = &mut all[at];
        if result.unit.is_empty() {
            result.unit = &row.unit;
        }
        let device = row.subject();
        match result.devices.iter_mut().find(|(known, _)| *known == device) {
            Some((_, rows)) => rows.push(row),
            None => result.devices.push((device, vec![row])),
        }
    }
    all
}

/// Returns the names of all groups of a cycle, in order.
pub(super) fn names(cycle: Cycle) -> Vec<String> {
    use sotto_owner::question::Weekday;

    let of = |recurs: Recurs| recurs.part(cycle).unwrap_or_default();
    match cycle {
        Cycle::HourOfDay => {
            (0..24).map(|hour| of(Recurs { hour_of_day: Some(hour), ..Recurs::default() })).collect()
        }
        Cycle::Weekday => Weekday::ALL
            .map(|day| of(Recurs { weekday: Some(day), ..Recurs::default() }))
            .into_iter()
            .collect(),
        Cycle::MonthOfYear => {
            (1..=12).map(|month| of(Recurs { month_of_year: Some(month), ..Recurs::default() })).collect()
        }
    }
}

/// Returns the position of a row's group among those of a cycle.
pub(super) fn position(row: &Row, cycle: Cycle) -> usize {
    let position = row.recurs.unwrap_or_default().position(cycle);
    usize::from(if cycle == Cycle::MonthOfYear { position.saturating_sub(1) } else { position })
}

impl<'a> Recurring<'a> {
    /// Returns name and unit.
    pub(super) fn title(&self) -> String {
        if self.unit.is_empty() { self.name.to_owned() } else { format!("{} [{}]", self.name, self.unit) }
    }

    /// Returns the words behind `by`.
    pub(super) fn by(&self) -> String {
        let down = self.down.map_or_else(String::new, |down| format!("{down} and "));
        format!("{down}{}", self.across)
    }

    pub(super) fn points(&self) -> impl Iterator<Item = Point<'a>> + '_ {
        self.devices.iter().flat_map(|(_, rows)| rows.iter().filter_map(|row| Point::new(row)))
    }

    /// Returns the ends of an axis for values and, if `bounds`, their bounds: sizes begin at zero.
    pub(super) fn ends(&self, bounds: bool) -> Option<(f64, f64)> {
        let ends = |point: Point<'_>| {
            if bounds { [point.low(), point.high()] } else { [point.value; 2] }
        };
        let (low, high) = extent(self.points().flat_map(ends))?;
        Some(if self.is_size { (0.0, high.max(0.0)) } else { (low, high) })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use sotto_owner::question::Weekday;

    use super::super::fixture::{answer, row};
    use super::*;

    /// Returns rows by weekday and hour of day: ten times the weekday, and the hour. Sundays have no value.
    pub(crate) fn week() -> Answer {
        let mut rows = Vec::new();
        for (day, weekday) in Weekday::ALL.into_iter().enumerate() {
            for hour in 0..24 {
                let value = (day < 6).then_some(f64::from(hour) + 10.0 * day as f64);
                let recurs = Recurs { hour_of_day: Some(hour), weekday: Some(weekday), month_of_year: None };
                rows.push(Row { recurs: Some(recurs), ..row("mean(t)", None, 0, value, 0.0) });
            }
        }
        answer(rows)
    }

    #[test]
    fn the_longer_cycle_is_across() {
        let answer = week();
        let all = recurring(&answer);
        assert_eq!((all.len(), all[0].across, all[0].down), (1, Cycle::HourOfDay, Some(Cycle::Weekday)));
        assert_eq!((all[0].by(), all[0].title()), ("weekday and hour of day".into(), "mean(t) [°C]".into()));
        assert_eq!(all[0].ends(true), Some((0.0, 73.0)));
        let last = all[0].devices[0].1.last().unwrap();
        assert_eq!((position(last, Cycle::Weekday), position(last, Cycle::HourOfDay)), (6, 23));
        assert_eq!(names(Cycle::MonthOfYear)[11], "dec");
    }
}
