//! Results of calls that compare readings: counts above a limit, extremes, quantiles, histograms.

use crate::question::{Bins, Call, Condition};

use super::{Counted, Reader, Row};
use crate::ask::Decided;
use crate::distribution::{Distribution, equal_edges};
use crate::value::ValueError;

impl Reader<'_> {
    /// Returns the distribution of a channel's readings, and the number of missing ones.
    fn distribution(&self, channel: &str) -> (Distribution, u64) {
        let tally = &self.tallies[self.at];
        let found = tally.distributions.get(channel).cloned().unwrap_or_default();
        let expected = tally.expected.get(channel).copied().unwrap_or_default();
        let missing = expected.saturating_sub(found.count());
        (found, missing)
    }

    /// Returns the result of a call with one value.
    pub(super) fn compared(&self, call: &Call, channel: &str, unit: String) -> Counted {
        let (found, missing) = self.distribution(channel);
        let (value, unit) = match call {
            Call::CountWhere(condition) => (Ok(found.count_where(condition)), String::new()),
            Call::TimeWhere(condition) => (found.time_where(condition), "h".to_owned()),
            Call::Min(_) => (found.minimum(&unit), unit),
            Call::Max(_) => (found.maximum(&unit), unit),
            Call::Quantile { share, .. } => (found.quantile(*share, &unit), unit),
            _ => (Err(ValueError::Undetermined("it has several values")), unit),
        };
        Counted { value, unit, count: found.count(), missing }
    }

    /// Returns the result of a condition on a polynomial or a model, of `expected` ticks.
    pub(super) fn condition(&self, call: &Call, condition: &Condition, expected: u64) -> Counted {
        let none = Decided::default();
        let found = self.tallies[self.at].conditions.get(&condition.to_string()).unwrap_or(&none);
        let (value, unit) = match call {
            Call::TimeWhere(_) => (found.time(), "h".to_owned()),
            _ => (Ok(found.number()), String::new()),
        };
        Counted { value, unit, count: found.count, missing: expected.saturating_sub(found.count) }
    }

    /// Adds a row for each bin.
    pub(super) fn histogram(&self, channel: &str, bins: &Bins, row: &Row, rows: &mut Vec<Row>) {
        let (found, missing) = self.distribution(channel);
        let shown = match bins {
            Bins::Equal(count) => {
                let range = self.settings.channels.get(channel).map(|channel| channel.range);
                let range = range.map_or((0.0, 1.0), |range| (range.minimum, range.maximum));
                equal_edges(range, *count)
            }
            Bins::Edges(edges) => edges.clone(),
        };
        let mut edges = shown.clone();
        if let (Bins::Equal(_), [first, .., last]) = (bins, &mut edges[..]) {
            // Every reading of the declared range is in a bin, rounded or not.
            (*first, *last) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        let last = edges.len().saturating_sub(2);
        for (at, (value, ends)) in found.histogram(&edges).into_iter().zip(shown.windows(2)).enumerate() {
            let close = if at == last { ']' } else { ')' };
            let name = format!("{}[{}, {}{close}", row.name, short(ends[0]), short(ends[1]));
            let row = Row { name, bin: Some([ends[0], ends[1]]), ..row.clone() };
            let counted = Counted { value: Ok(value), unit: String::new(), count: found.count(), missing };
            rows.push(counted.row(row));
        }
    }
}

/// Returns an end of a bin with at most nine digits, without the zeros at its end.
fn short(end: f64) -> f64 {
    format!("{end:.8e}").parse().unwrap_or(end)
}
