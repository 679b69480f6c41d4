//! `sotto-cloud`: see `sotto-cloud --help`.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use sotto_cloud::cli::{Cli, Command, ConfigCommand};
use sotto_cloud::config::DEFAULT_FILE;
use sotto_cloud::{backups, identity, inspect, maintain, reference, server, validate};
use sotto_service::logs;

fn main() -> ExitCode {
    match carried_out(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed.
            let _ = writeln!(std::io::stderr(), "sotto-cloud: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn carried_out(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(given) => server::run(&given.settle()?),
        Command::Backup { to, keep, given } => backups::backup(&given.settle()?, &to, keep),
        Command::Restore { from, list: true, json, .. } => backups::list(&from, json),
        Command::Restore { from, at, given, .. } => backups::restore(&given.settle()?, &from, at),
        Command::Store { json, given } => inspect::store(&given.settle()?, json),
        Command::Check { signatures, json, given } => inspect::check(&given.settle()?, signatures, json),
        Command::Repair { from, given } => {
            let config = given.settle()?;
            logs::to_stderr();
            inspect::repair(&config, from)
        }
        Command::Migrate { dry_run, given } => {
            let config = given.settle()?;
            logs::to_stderr();
            inspect::migrate(&config, dry_run)
        }
        Command::Export { to, device, given } => inspect::export(&given.settle()?, &to, device.as_deref()),
        Command::Rebuild(given) => {
            let config = given.settle()?;
            logs::to_stderr();
            maintain::rebuild(&config)
        }
        Command::Key(given) => identity::show(&given.settle()?),
        Command::Openapi { markdown } => reference::print(markdown),
        Command::Config(ConfigCommand::PrintDefault) => sotto_service::config::print(DEFAULT_FILE),
        Command::Config(ConfigCommand::Validate { file }) => validate::validate(&file),
    }
}
