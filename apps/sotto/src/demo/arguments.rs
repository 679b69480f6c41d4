//! Arguments of `sotto demo`.

use std::path::PathBuf;

/// Arguments of `sotto demo`.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Use a column of this file instead of this machine's sensors.
    #[arg(long, value_name = "FILE", requires = "column", conflicts_with = "generate")]
    pub(crate) csv: Option<PathBuf>,
    /// The column's name.
    #[arg(long, value_name = "NAME", requires = "csv")]
    pub(crate) column: Option<String>,
    /// Use a seeded generator instead of this machine's sensors.
    #[arg(long)]
    pub(crate) generate: bool,
    /// Seed of the generator.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Readings of each channel in a window.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=2048))]
    pub(crate) ticks: Option<u32>,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
