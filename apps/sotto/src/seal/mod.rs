//! `sotto seal`: describes files of Microsoft SEAL, and converts them to our formats and back.

mod arguments;
mod convert;
mod files;
mod from_seal;
mod inspect;
mod parameters;
mod to_seal;

use std::process::ExitCode;

use crate::run::Run;
use clap::Subcommand;

/// Arguments of `sotto seal`.
#[derive(clap::Args, Debug)]
pub(crate) struct Seal {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Describe a SEAL file: kind, scheme, degree, primes, level, size, seeded or written out.
    Inspect(inspect::Inspect),
    /// Convert a SEAL file to ours, or ours to SEAL's.
    Convert(arguments::Convert),
}

impl Run for Seal {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Inspect(command) => command.run(),
            Command::Convert(command) => command.run(),
        }
    }
}
