//! `sotto lab compare`.

use std::path::Path;
use std::process::ExitCode;

use sotto_runner::{Collection, compare};

use super::table;
use crate::output::say;
use crate::phases::duration;

/// Shows what two runs both have.
pub(super) fn show(before: &Path, after: &Path) -> anyhow::Result<ExitCode> {
    let (before, after) = (Collection::read(before)?, Collection::read(after)?);
    let changes = compare::changes(&before.rows, &after.rows);
    anyhow::ensure!(!changes.is_empty(), "the two have no row in common");
    if let (Some(first), Some(second)) = (&before.machine, &after.machine)
        && first.processor != second.processor
    {
        say(format!("different processors: {} and {}", first.processor, second.processor));
    }
    let mut table = table::empty(&["row", "before", "after", "after / before"]);
    let mut logarithms = Vec::new();
    for change in &changes {
        let row = change.after;
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
        let cells = [name, duration(change.before.median_us), duration(row.median_us), ratio];
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
