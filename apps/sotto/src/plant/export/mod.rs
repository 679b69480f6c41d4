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

/// The form of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    Csv,
    Parquet,
    Xlsx,
}

impl Format {
    /// Returns the form of a name, which is also the end of its files.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "csv" => Self::Csv,
            "parquet" => Self::Parquet,
            "xlsx" => Self::Xlsx,
            _ => return None,
        })
    }

    /// Returns the media type.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Parquet => "application/vnd.apache.parquet",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }

    /// Returns an answer in this form.
    pub(crate) fn bytes(self, answer: &Answer) -> anyhow::Result<Vec<u8>> {
        let table = Table::of(answer);
        match self {
            Self::Csv => Ok(csv::text(&table).into_bytes()),
            Self::Parquet => parquet::bytes(&table),
            Self::Xlsx => xlsx::bytes(&table),
        }
    }
}

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
        let files = [(&self.csv, Format::Csv), (&self.parquet, Format::Parquet), (&self.xlsx, Format::Xlsx)];
        for (file, format) in files {
            let Some(file) = file else { continue };
            std::fs::write(file, format.bytes(answer)?)
                .map_err(|error| anyhow::anyhow!("{} cannot be written: {error}", file.display()))?;
        }
        Ok(())
    }

    /// Says which files were written.
    pub(crate) fn tell(&self) {
        self.files().for_each(|file| say(format!("{}: the values", file.display())));
    }
}
