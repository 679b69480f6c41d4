//! `sotto lab`: measurements of this library and others.

mod changes;
mod engines;
mod measure;
mod table;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use sotto_runner::report;

use crate::output::say;

/// Arguments of `sotto lab`.
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the engines: libraries that can be measured, with their versions, and whether they are installed.
    Engines,
    /// Install engines under the cache folder.
    Install {
        /// Which; `all` stands for all.
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Measure what one or several definitions say.
    Run(measure::Arguments),
    /// Compare two runs: folders of rows, or files.
    Compare {
        /// Before.
        before: PathBuf,
        /// After.
        after: PathBuf,
    },
    /// Write report.html and report.md about the rows of a folder into it.
    Report {
        /// What `sotto lab run --out` has written.
        folder: PathBuf,
    },
    /// Answer as an engine, on standard input and output.
    #[command(hide = true)]
    Serve,
}

/// Runs it.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Engines => engines::list(),
        Command::Install { names } => engines::install(names),
        Command::Run(arguments) => measure::run(arguments),
        Command::Compare { before, after } => changes::show(before, after),
        Command::Report { folder } => {
            for path in report::write(folder)? {
                say(path.display());
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Serve => engines::serve(),
    }
}
