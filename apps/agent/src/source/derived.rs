//! Channels that are computed from others.

use std::collections::BTreeMap;

use sotto_pack::{Channel, Derived, Period};
use zeroize::Zeroizing;

use super::{Around, Row, Source, SourceError};

/// Most times of which some parts came and others did not.
const MOST_WAITING: usize = 1 << 14;

/// A source whose rows have derived channels after those of the inner source.
struct WithDerived {
    source: Box<dyn Source>,
    channels: Vec<Channel>,
    derived: Vec<Computed>,
}

/// A derived channel.
struct Computed {
    of: Derived,
    /// The position of each part in a row.
    positions: Vec<usize>,
    /// Half of the milliseconds between two readings: parts whose times are as near belong together.
    near: i64,
    waiting: BTreeMap<i64, Zeroizing<Vec<Option<f64>>>>,
}

/// Returns a source with the derived channels among `wanted`, whose parts `source` has. `period` gives the time
/// between readings of a channel.
///
/// A derived channel has a reading where all of its parts have one: in one row, or in rows whose times are at most half
/// a period apart. It comes with the last of them.
pub fn with_derived(
    source: Box<dyn Source>,
    wanted: &[Channel],
    derived: &[Derived],
    period: impl Fn(&str) -> Period,
) -> Box<dyn Source> {
    let position = |name: &String| source.channels().iter().position(|channel| channel.name == *name);
    let mut channels = source.channels().to_vec();
    let mut computed = Vec::new();
    for channel in wanted {
        let Some(of) = derived.iter().find(|derived| derived.channel == channel.name) else { continue };
        let positions: Option<Vec<usize>> = of.of.iter().map(|part| position(&part.name)).collect();
        let Some(positions) = positions else { continue };
        channels.push(channel.clone());
        let near = i64::from(period(&channel.name).ceil() / 2);
        computed.push(Computed { of: of.clone(), positions, near, waiting: BTreeMap::new() });
    }
    if computed.is_empty() {
        return source;
    }
    Box::new(WithDerived { source, channels, derived: computed })
}

impl Computed {
    /// Takes the parts of a row. Returns the value, once all parts are there.
    fn take(&mut self, row: &Row) -> Option<f64> {
        let of_row = self.of.of.iter().zip(&self.positions).map(|(part, position)| {
            let value = row.values.get(*position).copied().flatten();
            // A reading outside its range counts for nothing.
            value.filter(|value| (part.minimum..=part.maximum).contains(value))
        });
        let mut parts: Zeroizing<Vec<Option<f64>>> = Zeroizing::new(of_row.collect());
        if parts.iter().all(Option::is_none) {
            return None;
        }
        if parts.iter().any(Option::is_none) {
            let at = self.nearest(row.at, &parts).unwrap_or(row.at);
            let waiting = self.waiting.remove(&at);
            for (part, before) in parts.iter_mut().zip(waiting.iter().flat_map(|parts| parts.iter())) {
                *part = part.or(*before);
            }
            if parts.iter().any(Option::is_none) {
                self.waiting.insert(at, parts);
                if self.waiting.len() > MOST_WAITING {
                    self.waiting.pop_first();
                }
                return None;
            }
        }
        let value = |name: &str| {
            let at = self.of.of.iter().position(|part| part.name == name);
            at.and_then(|at| parts[at]).unwrap_or(f64::NAN)
        };
        Some(decimal(self.of.formula.value(value)))
    }

    /// Returns the nearest time at which one of the lacking parts waits.
    fn nearest(&self, at: i64, parts: &[Option<f64>]) -> Option<i64> {
        let has_lacking = |(_, waiting): &(&i64, &Zeroizing<Vec<Option<f64>>>)| {
            parts.iter().zip(waiting.iter()).any(|(part, waiting)| part.is_none() && waiting.is_some())
        };
        let near = self.waiting.range(at.saturating_sub(self.near)..=at.saturating_add(self.near));
        near.filter(has_lacking).map(|(time, _)| *time).min_by_key(|time| time.abs_diff(at))
    }
}

/// Rounds to 12 digits: differences of decimals are decimals again.
fn decimal(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

impl Around for WithDerived {
    fn inner(&self) -> &dyn Source {
        &*self.source
    }

    fn inner_mut(&mut self) -> &mut dyn Source {
        &mut *self.source
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        let mut row = self.source.next_row()?;
        let values: Zeroizing<Vec<Option<f64>>> =
            Zeroizing::new(self.derived.iter_mut().map(|derived| derived.take(&row)).collect());
        // A row without all parts is not about the derived channel.
        row.missing.extend(values.iter().map(|_| None));
        let mut all = Zeroizing::new(Vec::with_capacity(row.values.len() + values.len()));
        all.extend(row.values.iter().chain(values.iter()));
        row.values = all;
        Ok(row)
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        self.derived.iter_mut().for_each(|derived| derived.waiting.clear());
        self.source.restart()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileFacts;

    /// A source with these rows.
    struct Rows {
        channels: Vec<Channel>,
        rows: Vec<Row>,
        at: usize,
    }

    impl Source for Rows {
        fn channels(&self) -> &[Channel] {
            &self.channels
        }

        fn next_row(&mut self) -> Result<Row, SourceError> {
            self.at += 1;
            self.rows.get(self.at - 1).cloned().ok_or(SourceError::Ended)
        }

        fn paced(&self) -> bool {
            false
        }

        fn facts(&self) -> Vec<FileFacts> {
            Vec::new()
        }

        fn restart(&mut self) -> Result<(), SourceError> {
            self.at = 0;
            Ok(())
        }
    }

    fn channel(name: &str) -> Channel {
        Channel { name: name.to_owned(), minimum: -20.0, maximum: 120.0, ..Channel::default() }
    }

    #[test]
    fn a_value_comes_with_the_last_of_its_parts() {
        let rows = [
            // Both, and a difference of decimals that is one.
            (0, Some(0.3), Some(0.1)),
            // One alone, another out of its range, and both apart by half of a period.
            (10_000, Some(1.0), None),
            (12_000, None, Some(999.0)),
            (15_000, None, Some(4.0)),
            // Too far apart.
            (20_000, Some(5.0), None),
            (26_000, None, Some(5.0)),
            // The one of before is near, too.
            (31_000, Some(7.0), None),
            // Out of order.
            (19_000, None, Some(2.0)),
            (40_000, None, None),
        ];
        let rows = rows.map(|(at, a, b)| Row { missing: vec![None; 2], ..Row::new(at, vec![a, b]) }).to_vec();
        let source = Box::new(Rows { channels: vec![channel("a"), channel("b")], rows, at: 0 });
        let formula = "a - b".parse().expect("a formula");
        let derived = Derived { channel: "delta".into(), formula, of: vec![channel("a"), channel("b")] };
        let wanted = [channel("a"), channel("delta")];
        let mut source = with_derived(source, &wanted, &[derived], |_| Period::from_milliseconds(10_000));
        let names: Vec<&str> = source.channels().iter().map(|channel| channel.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "delta"]);
        for pass in 0..2 {
            let mut found = Vec::new();
            while let Ok(row) = source.next_row() {
                assert_eq!((row.values.len(), row.missing.len()), (3, 3));
                found.push((row.at / 1000, row.values[2]));
            }
            let expected = [
                (0, Some(0.2)),
                (10, None),
                (12, None),
                (15, Some(-3.0)),
                (20, None),
                (26, None),
                (31, Some(2.0)),
                (19, Some(3.0)),
                (40, None),
            ];
            assert_eq!(found, expected, "pass {pass}");
            source.restart().expect("the first row again");
        }
    }
}
