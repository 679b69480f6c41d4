//! `sotto seal`: what files of Microsoft SEAL are, and moving them here and back.

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
    /// Say what a file of SEAL's is: kind, scheme, degree, primes, level, whether it is seeded and how large it is.
    Inspect(inspect::Arguments),
    /// Turn a file of SEAL's into one of ours, or one of ours into SEAL's.
    Convert(convert::Arguments),
}

/// Runs it.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
    }
}
