//! The times of a command's phases.

use std::time::Instant;

use serde::Serialize;

/// Times of phases, in the order in which they first occurred.
#[derive(Debug, Default)]
pub(crate) struct Phases(Vec<(String, Vec<f64>)>);

/// A phase and its times in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) mean_us: f64,
    pub(crate) sd_us: f64,
    pub(crate) count: usize,
}

impl Phases {
    /// Runs a function and records its time.
    pub(crate) fn time<T>(&mut self, name: &str, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = run();
        self.record(name, start.elapsed().as_secs_f64() * 1e6);
        result
    }

    /// Records one time in microseconds.
    pub(crate) fn record(&mut self, name: &str, microseconds: f64) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, times)) => times.push(microseconds),
            None => self.0.push((name.to_owned(), vec![microseconds])),
        }
    }

    /// Returns mean and standard deviation (of the sample; 0 for a single time) of each phase.
    pub(crate) fn summary(&self) -> Vec<Phase> {
        let summary = |(name, times): &(String, Vec<f64>)| {
            let count = times.len();
            let mean_us = times.iter().sum::<f64>() / count as f64;
            let squares: f64 = times.iter().map(|t| (t - mean_us) * (t - mean_us)).sum();
            let sd_us = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
            Phase { name: name.clone(), mean_us, sd_us, count }
        };
        self.0.iter().map(summary).collect()
    }
}

/// Returns the table for people.
pub(crate) fn table(phases: &[Phase]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::UTF8_BORDERS_ONLY);
    table.set_header(["phase", "mean", "sd", "count"]);
    for phase in phases {
        let cells =
            [phase.name.clone(), duration(phase.mean_us), duration(phase.sd_us), phase.count.to_string()];
        table.add_row(cells);
    }
    for column in 1..4 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
    }
    table
}

/// Formats microseconds for people.
pub(crate) fn duration(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{us:.0} µs"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation() {
        let mut phases = Phases::default();
        for t in [1.0, 2.0, 3.0] {
            phases.record("encrypt", t);
        }
        phases.record("decrypt", 5.0);
        let summary = phases.summary();
        assert_eq!(summary[0], Phase { name: "encrypt".into(), mean_us: 2.0, sd_us: 1.0, count: 3 });
        assert_eq!(summary[1].sd_us, 0.0);
    }
}
