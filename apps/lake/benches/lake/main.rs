//! How many integers a second a query adds: sums of windows beside a plain SUM of the same places in the same engine, grouped by
//! device and day, from the page cache. Every sum is opened.
//!
//!     cargo bench --manifest-path apps/lake/Cargo.toml --target-dir target/lake --bench lake -- --readings 10000000 --folder FOLDER
//!
//! The store is made at the first run, and stays in the folder.

mod generate;
mod measure;

use std::path::PathBuf;

use clap::Parser;

#[derive(Parser)]
struct Arguments {
    /// Readings of the store, in windows of an hour.
    #[arg(long, default_value_t = 10_000_000)]
    readings: u64,
    #[arg(long, default_value_t = 1000)]
    devices: u64,
    /// Readings of a window, at most 3600.
    #[arg(long, default_value_t = 60)]
    ticks: u32,
    /// Where stores are made and stay.
    #[arg(long)]
    folder: PathBuf,
    /// Runs of each query; the fastest counts.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Given by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let Arguments { readings, devices, ticks, folder, runs, .. } = Arguments::parse();
    let store = generate::store(&folder, readings, devices, ticks)?;
    measure::all(&store, runs)
}
