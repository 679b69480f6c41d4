//! `sotto-lab`: measurements of this library and others.

mod changes;
mod digits;
mod doctor;
mod engines;
mod measure;
mod output;
mod table;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use sotto_runner::report;

use crate::output::say;

/// Measure this library and others on this machine, and show the results.
#[derive(Parser, Debug)]
#[command(name = "sotto-lab", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the engines, which are the libraries that can be measured: version, schemes, state of the installation.
    Engines,
    /// Tell for each engine if it runs or can be installed here, and why not. Installed engines are started; for the
    /// others only the prerequisites are checked. Exit code 1 if an engine is unavailable.
    Doctor(doctor::Arguments),
    /// Install engines under the cache folder.
    Install {
        /// The engines; `all` stands for all.
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Measure one or several definitions.
    Run(measure::Arguments),
    /// Find the number of special primes with which each engine is fastest; prints the table that goes into
    /// lab/digits.csv.
    Digits(digits::Arguments),
    /// Compare two runs, given as folders of rows or as files.
    Compare {
        /// The earlier run.
        before: PathBuf,
        /// The later run.
        after: PathBuf,
    },
    /// Write report.html, report.md and report.csv about the rows of a folder.
    Report {
        /// The folder that `sotto-lab run` has written, or one of `results`.
        folder: PathBuf,
        /// Write the report there [default: the folder of the rows].
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Write the page of benchmarks to this file: every operation against the fastest other engine and against its
        /// target.
        #[arg(long, value_name = "FILE")]
        benchmarks: Option<PathBuf>,
        /// Put the summary of the benchmarks between the comments `lab summary: begin` and `end` of this file.
        #[arg(long, value_name = "FILE")]
        summary: Option<PathBuf>,
        /// Put the tables of comparisons between the comments `lab comparisons: begin` and `end` of this page.
        #[arg(long, value_name = "FILE")]
        comparisons: Option<PathBuf>,
        /// Put the table of sums of windows between the comments `lab window-sums: begin` and `end` of this page.
        #[arg(long, value_name = "FILE")]
        window_sums: Option<PathBuf>,
        /// Draw the chart of the README there, as SVG.
        #[arg(long, value_name = "FILE")]
        chart: Option<PathBuf>,
    },
    /// Run as an engine: requests on standard input, answers on standard output.
    #[command(hide = true)]
    Serve,
}

fn main() -> ExitCode {
    run(&Arguments::parse()).unwrap_or_else(|error| {
        eprintln!("sotto-lab: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Engines => engines::list(),
        Command::Doctor(arguments) => Ok(doctor::run(arguments)),
        Command::Install { names } => engines::install(names),
        Command::Run(arguments) => measure::run(arguments),
        Command::Digits(arguments) => digits::search(arguments),
        Command::Compare { before, after } => changes::show(before, after),
        Command::Report { folder, out, benchmarks, summary, comparisons, window_sums, chart } => {
            let mut written = report::write(folder, out.as_ref().unwrap_or(folder))?;
            // A run is kept in a folder named after its commit.
            let commit = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let commit = commit.file_name().unwrap_or_default().to_string_lossy();
            if let Some(page) = benchmarks {
                report::write_benchmarks(folder, &commit, page)?;
                written.push(page.clone());
            }
            if let Some(file) = summary {
                report::write_summary(folder, &commit, file)?;
                written.push(file.clone());
            }
            if let Some(page) = comparisons {
                report::write_comparisons(folder, &commit, page)?;
                written.push(page.clone());
            }
            if let Some(page) = window_sums {
                report::write_window_sums(folder, &commit, page)?;
                written.push(page.clone());
            }
            if let Some(file) = chart {
                report::write_chart(folder, &commit, file)?;
                written.push(file.clone());
            }
            for path in written {
                say(path.display());
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Serve => engines::serve(),
    }
}
