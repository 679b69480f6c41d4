//! `sotto-lab compare`.

use std::path::Path;
use std::process::ExitCode;

use sotto_runner::{Collection, compare};

use super::table;
use crate::output::say;
use sotto_runner::report::duration;

/// Prints the changes between two runs, row by row.
pub(super) fn show(before: &Path, after: &Path) -> anyhow::Result<ExitCode> {
    let (before, after) = (Collection::read(before)?, Collection::read(after)?);
    let changes = compare::changes(&before.rows, &after.rows);
    anyhow::ensure!(
        changes.iter().any(|change| !change.medians.contains(&None)),
        "the two runs have no row in common"
    );
    if let (Some(first), Some(second)) = (&before.machine, &after.machine)
        && first.processor != second.processor
    {
        say(format!("different processors: {} and {}", first.processor, second.processor));
    }
    let mut table = table::empty(&["row", "before", "after", "after / before"]);
    let mut logarithms = Vec::new();
    for change in &changes {
        let row = change.row;
        let parts = [row.definition.as_str(), &row.parameters, &row.engine, &row.scheme];
        let name = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let name = format!("{name} n = {} {}", row.n, row.label());
        let ratio = match change.ratio {
            Ok(ratio) => {
                logarithms.push(ratio.ln());
                format!("{ratio:.3}")
            }
            Err(reason) => format!("not compared: {reason}"),
        };
        let [before, after] = change.medians.map(|median| median.map_or_else(String::new, duration));
        let cells = [name, before, after, ratio];
        table.add_row(cells);
    }
    table::align_numbers(&mut table);
    say(table);
    if !logarithms.is_empty() {
        let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        say(format!("{} rows compared; geometric mean of after / before: {mean:.3}", logarithms.len()));
    }
    Ok(ExitCode::SUCCESS)
}
