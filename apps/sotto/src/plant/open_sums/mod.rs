//! `sotto open`: sums of an export that another engine added up.

mod files;

use std::path::PathBuf;
use std::process::ExitCode;

use comfy_table::{CellAlignment, Table, presets};
use sotto_owner::{OpenedSums, Within};

use super::Place;
use super::show::number;
use super::verify::repeating;
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto open`.
#[derive(clap::Args, Debug)]
pub(crate) struct OpenSums {
    /// CSV, JSON or Parquet files with the sums of exported windows (`sotto-cloud export`) or of `sotto-lake sql`, or folders of
    /// them, as Spark writes
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Run for OpenSums {
    fn run(self) -> anyhow::Result<ExitCode> {
        let rows = files::rows(&self.files)?;
        let plant = self.place.open()?;
        let opened = repeating(|progress| plant.open_sums(&rows, progress))?;
        if self.json {
            say(serde_json::to_string_pretty(&opened)?);
        } else {
            say(table(&opened));
            notes(&opened).into_iter().for_each(say);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn table(opened: &[OpenedSums]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    let names = ["device", "from", "to", "windows", "channel", "readings", "sum", "mean", "stddev"];
    table.set_header(names);
    for row in opened {
        for of in &row.channels {
            let unit = if of.unit.is_empty() { String::new() } else { format!(" ({})", of.unit) };
            let value = |value: Option<Within>| value.map(within).unwrap_or_default();
            table.add_row([
                row.device.clone(),
                row.from.clone(),
                row.to.clone(),
                row.windows.to_string(),
                format!("{}{unit}", of.channel),
                of.readings.to_string(),
                within(of.sum),
                value(of.mean),
                value(of.stddev),
            ]);
        }
    }
    for column in [3, 5, 6, 7, 8] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Writes a number as `sotto ask` does, with its bound.
fn within(Within { value, bound }: Within) -> String {
    number(value, bound)
}

fn notes(opened: &[OpenedSums]) -> Vec<String> {
    let mut notes = Vec::new();
    for row in opened {
        let place = format!("note: {}, {} to {}", row.device, row.from, row.to);
        if !row.replaced.is_empty() {
            let channels = row.replaced.join(", ");
            notes.push(format!(
                "{place}: later windows correct readings of {channels}: `sotto ask` answers with them; a channel that would count twice \
                 has no value"
            ));
        }
        if row.unchecked {
            notes.push(format!(
                "{place}: unchecked, as the device used a number twice: `sotto status` tells more, `sotto device renew` helps"
            ));
        }
    }
    if opened.iter().any(|row| !row.unchecked) {
        notes.push("Tags fit: a row is the sum of exactly as many windows as it says.".to_owned());
    }
    notes
}
