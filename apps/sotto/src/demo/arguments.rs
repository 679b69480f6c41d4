//! Arguments of `sotto demo`.

use std::path::PathBuf;

/// Arguments of `sotto demo`.
#[derive(clap::Args, Debug)]
pub(crate) struct Demo {
    /// Read a column of this file instead of this machine's sensors: the first device reads the earlier half, the
    /// second the later
    #[arg(long, value_name = "FILE", requires = "column", conflicts_with = "generate")]
    pub(crate) csv: Option<PathBuf>,
    /// The column's name
    #[arg(long, value_name = "NAME", requires = "csv")]
    pub(crate) column: Option<String>,
    /// The column of the time [default: one row a second, beginning at --start]
    #[arg(long, value_name = "NAME", requires = "csv")]
    pub(crate) time: Option<String>,
    /// Without --time: the time of the first row
    #[arg(long, value_name = "TIME", requires = "csv", conflicts_with = "time")]
    #[arg(default_value = "2000-01-01T00:00:00Z")]
    pub(crate) start: String,
    /// Read a seeded generator instead of this machine's sensors
    #[arg(long)]
    pub(crate) generate: bool,
    /// Seed of the generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Rows that each device reads [default: 25 of sensors, 2016 of the generator]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    #[arg(conflicts_with = "csv")]
    pub(crate) ticks: Option<u32>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Also print parameters, steps, times and processes
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
}
