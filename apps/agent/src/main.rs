//! `sotto-agent`: the program on a device.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, Result};
use sotto_agent::arguments::{Arguments, Command, RunArguments};
use sotto_agent::commands::{check, requeue, sources, status};
use sotto_agent::device::Device;
use sotto_agent::fruitless::NothingTaken;
use sotto_agent::lost::ReadingsLost;
use sotto_agent::output::{say, tell};
use sotto_agent::spool::SpoolError;
use sotto_agent::stop::{Stop, exit_with_stdin};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

fn main() -> ExitCode {
    log_to_stderr();
    let arguments = Arguments::read(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let done = match arguments.command {
        Command::Run(arguments) => run(*arguments).map(|()| None),
        Command::Check(arguments) => stoppable(|stop| check::run(&arguments, stop)),
        Command::Status(arguments) => status::run(&arguments).map(Some),
        Command::Requeue(arguments) => stoppable(|stop| requeue::run(&arguments, stop)),
        Command::Sources(arguments) => sources::run(&arguments).map(Some),
    };
    let said = done.and_then(|text| text.map_or(Ok(()), say).context("standard output cannot be written"));
    match said {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(format!("sotto-agent: {error:#}"));
            exit_code(&error)
        }
    }
}

/// The exit code if the spool has windows of places, whose readings have to be sent again from the source.
const PLACES_WAIT: u8 = 3;

/// The exit code if all is done, but readings are lost.
const READINGS_LOST: u8 = 4;

/// The exit code if a spool without a window of its own got none: every row was left out.
const NOTHING_TAKEN: u8 = 5;

fn exit_code(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref() {
        Some(SpoolError::Places(_)) => PLACES_WAIT.into(),
        _ if error.is::<ReadingsLost>() => READINGS_LOST.into(),
        _ if error.is::<NothingTaken>() => NOTHING_TAKEN.into(),
        _ => ExitCode::FAILURE,
    }
}

/// Runs a command that a signal stops.
fn stoppable(command: impl FnOnce(&Stop) -> Result<String>) -> Result<Option<String>> {
    command(&Stop::on_signals()?).map(Some)
}

fn run(arguments: RunArguments) -> Result<()> {
    if arguments.exit_with_stdin {
        exit_with_stdin();
    }
    let stop = Stop::on_signals()?;
    #[cfg(feature = "gateway")]
    if arguments.gateway.devices.is_some() || arguments.gateway.collect.is_any() {
        return sotto_agent::gateway::run(arguments, &stop);
    }
    let mut device = Device::open(arguments, &stop)?;
    let sender = device.start_sending();
    while let Some(window) = device.read_and_pack()? {
        let encrypted = device.encrypt(window)?;
        let envelope = device.sign(encrypted)?;
        if !device.spool(envelope)? {
            break;
        }
    }
    device.finish(sender)
}

fn log_to_stderr() {
    let filter = std::env::var("RUST_LOG").ok().and_then(|levels| levels.parse().ok());
    let filter = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let ansi = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(ansi);
    tracing_subscriber::registry().with(logs.with_filter(filter)).init();
}
