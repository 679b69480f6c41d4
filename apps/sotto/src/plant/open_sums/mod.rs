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
    let of = |row: &OpenedSums| {
        let channels = row.replaced.join(", ");
        (!channels.is_empty()).then(|| {
            format!(
                "note: {}, {} to {}: readings of {channels} were corrected by later windows: `sotto ask` answers with them",
                row.device, row.from, row.to
            )
        })
    };
    let mut notes: Vec<String> = opened.iter().filter_map(of).collect();
    notes.push("Each row is the sum of exactly the windows that its numbers name: its tags fit.".to_owned());
    notes
}
