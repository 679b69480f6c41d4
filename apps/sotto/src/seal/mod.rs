//! `sotto seal`: describes files of Microsoft SEAL, and converts them to our formats and back.

mod convert;
mod files;
mod from_seal;
mod inspect;
mod parameters;
mod to_seal;

use std::process::ExitCode;

use clap::Subcommand;

/// Arguments of `sotto seal`.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Describe a SEAL file: kind, scheme, degree, primes, level, size, seeded or written out.
    Inspect(inspect::Arguments),
    /// Convert a SEAL file to ours, or ours to SEAL's.
    Convert(convert::Arguments),
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
    }
}
