//! Answers as files for other programs: CSV, Parquet, xlsx.

mod csv;
mod parquet;
mod table;
mod xlsx;

use std::path::{Path, PathBuf};

use sotto_owner::Answer;

pub(super) use csv::field;
use table::Table;

use crate::output::say;

/// Files that an answer is written to: a line for each group and device, a column for each result and its bound.
#[derive(clap::Args, Debug)]
pub(crate) struct Export {
    /// Write the values to this file as CSV: a line for each group and device, columns for each result and its bound
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write them as Parquet, with times in the plant's zone and units in the columns' metadata
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
    /// Write them for Excel and LibreOffice, with a second header line of units
    #[arg(long, value_name = "FILE")]
    xlsx: Option<PathBuf>,
}

impl Export {
    /// Returns true if a file is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.files().next().is_some()
    }

    fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.csv, &self.parquet, &self.xlsx].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Writes the files. Values that are unchecked are those of the answer: its caller holds them back.
    pub(crate) fn write(&self, answer: &Answer) -> anyhow::Result<()> {
        let table = Table::of(answer);
        let write = |file: &Path, bytes: &[u8]| {
            std::fs::write(file, bytes)
                .map_err(|error| anyhow::anyhow!("{} cannot be written: {error}", file.display()))
        };
        if let Some(file) = &self.csv {
            write(file, csv::text(&table).as_bytes())?;
        }
        if let Some(file) = &self.parquet {
            write(file, &parquet::bytes(&table)?)?;
        }
        if let Some(file) = &self.xlsx {
            write(file, &xlsx::bytes(&table)?)?;
        }
        Ok(())
    }

    /// Says which files were written.
    pub(crate) fn tell(&self) {
        self.files().for_each(|file| say(format!("{}: the values", file.display())));
    }
}
