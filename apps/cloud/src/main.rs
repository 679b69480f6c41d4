//! `sotto-cloud`: see `sotto-cloud --help`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use sotto_cloud::cli::{Cli, Command, ConfigCommand};
use sotto_cloud::config::{self, Config};
use sotto_cloud::identity;
use sotto_cloud::maintain;
use sotto_cloud::reference;
use sotto_cloud::server::Server;
use sotto_service::{logs, stop};

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(arguments) => arguments.settle().and_then(|config| run(&config)),
        Command::Backup { to, arguments } => {
            arguments.settle().and_then(|config| maintain::backup(&config, &to))
        }
        Command::Restore { from, arguments } => {
            arguments.settle().and_then(|config| maintain::restore(&config, &from))
        }
        Command::Key(arguments) => arguments.settle().and_then(|config| identity::show(&config)),
        Command::Rebuild(arguments) => arguments.settle().and_then(|config| rebuild(&config)),
        Command::Openapi { markdown } => reference::print(markdown),
        Command::Config(ConfigCommand::PrintDefault) => config::print_default(),
        Command::Config(ConfigCommand::Validate { file }) => config::validate(&file),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sotto-cloud: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(config: &Config) -> anyhow::Result<()> {
    logs::to_stderr();
    let runtime = tokio::runtime::Runtime::new()?;
    let served = runtime.block_on(async {
        let stop = stop::asked(config.exit_with_stdin)?;
        let server = Server::open(config).await?;
        server.announce(config)?;
        server.serve(stop).await
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

fn rebuild(config: &Config) -> anyhow::Result<()> {
    logs::to_stderr();
    maintain::rebuild(config)
}
