//! `sotto-recryptor`: see `sotto-recryptor --help`.

use clap::Parser as _;
use sotto_recryptor::cli::{Cli, Command, ConfigCommand};
use sotto_recryptor::config::DEFAULT_FILE;
use sotto_recryptor::{audit, server, validate};
use sotto_service::config;

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Run(given) => server::run(&given.settle()?),
        Command::Audit { data, json } => audit::print(&data, json),
        Command::Config(ConfigCommand::PrintDefault) => config::print(DEFAULT_FILE),
        Command::Config(ConfigCommand::Validate { file }) => validate::validate(&file),
    }
}
