//! `sotto`: the owner's command line.

/// Writes a line to standard error. Standard error may be closed or full, which stops nothing: `std`'s macro would panic.
macro_rules! eprintln {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

mod complete;
mod console;
mod demo;
mod eval;
mod keys;
mod memory;
mod output;
mod phases;
mod plan;
mod plant;
mod reference;
mod run;
mod seal;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use run::Run as _;

/// Compute on sensor readings that the computer doing the work cannot read. Unaudited.
#[derive(Parser)]
#[command(name = "sotto", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a plant: a folder with settings, secrets and the configuration of a cloud.
    Init(plant::Init),
    /// Declare channels: the quantities that devices measure.
    Channel(plant::Group<plant::Channel>),
    /// Declare questions that are asked again and again.
    Question(plant::Group<plant::Question>),
    /// Add devices, and make their bundles.
    Device(plant::Group<plant::Device>),
    /// Ask a question of the data in the cloud.
    Ask(plant::Ask),
    /// Write or send a page of questions with charts and text.
    Report(plant::Report),
    /// Declare alarms: conditions that `sotto watch` evaluates.
    Alarm(plant::Group<plant::Alarm>),
    /// Evaluate the alarms as data comes in, and tell of their changes.
    Watch(plant::WatchAlarms),
    /// Show the scheme, the parameters, keys and bytes that questions take, and why.
    Plan(plant::Plan),
    /// Serve the owner's page on this machine: devices, questions over time, alarms, what the cloud sees.
    Console(console::Arguments),
    /// Show devices, the readings that have arrived and those that are missing.
    Status(plant::Status),
    /// Show the devices, their newest windows and the alarms on the terminal, again and again.
    Top(plant::Top),
    /// Look for missing, unreadable and open files of the plant's folder, and show the commands that mend them.
    Check(plant::Check),
    /// Write the plant's folder into one encrypted file, or append what changed.
    Backup(plant::Backup),
    /// Make the plant's folder of a backup, or put what a folder lacks.
    Restore(plant::Restore),
    /// Put the plant's secrets under a passphrase.
    Passphrase(plant::Passphrase),
    /// Keep the plant's key in the kernel's keyring for some time, so that commands ask for no passphrase.
    Unlock(plant::UnlockFor),
    /// Remove the plant's key from the kernel's keyring.
    Lock(plant::Lock),
    /// Make the cloud's TLS certificate, and a private authority of the plant that signs it.
    Tls(plant::Group<plant::Tls>),
    /// Show earlier answers.
    Answers(plant::Answers),
    /// Show the cache, sums of earlier answers that a question does not ask for again, or delete it.
    Cache(plant::Cache),
    /// Repeat the work behind an answer on the windows that the devices signed, and compare the results with the
    /// cloud's.
    Verify(plant::Verify),
    /// Show and pin the key with which the cloud signs; accept its logs after a backup was restored.
    Cloud(plant::Group<plant::Cloud>),
    /// Open sums of windows that another engine added up: DuckDB, Polars, Spark, sotto-lake.
    Open(plant::OpenSums),
    /// Print a verified answer in a form that may be given to others.
    Publish(plant::Publish),
    /// Delete windows of a device from the cloud, and the answers about them.
    Forget(plant::Forget),
    /// Let the cloud keep sums of old windows in place of their bodies.
    Retain(plant::Retain),
    /// Run a cloud, two devices and their owner on this machine, on its own sensors.
    Demo(demo::Demo),
    /// Encrypt the numbers of an expression, compute on the ciphertexts, decrypt: the smallest example.
    Eval(eval::Eval),
    /// Make the secret of a device.
    Keys(keys::Keys),
    /// Print the grammar of questions, as Markdown.
    Grammar(reference::Grammar),
    /// Print the script by which a shell completes commands, options and the plant's names.
    Completions(complete::Completions),
    /// Describe files of Microsoft SEAL, and convert them to our formats and back.
    Seal(seal::Seal),
}

fn main() -> ExitCode {
    // A shell asks for completions: the answer ends the program.
    clap_complete::CompleteEnv::with_factory(Arguments::command).var(complete::VARIABLE).complete();
    let words = plant::as_options(std::env::args_os());
    let result = match Arguments::parse_from(words).command {
        Command::Demo(command) => command.run(),
        Command::Eval(command) => command.run(),
        Command::Init(command) => command.run(),
        Command::Channel(command) => command.run(),
        Command::Question(command) => command.run(),
        Command::Device(command) => command.run(),
        Command::Ask(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Alarm(command) => command.run(),
        Command::Watch(command) => command.run(),
        Command::Plan(command) => command.run(),
        Command::Console(command) => command.run(),
        Command::Status(command) => command.run(),
        Command::Top(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Backup(command) => command.run(),
        Command::Restore(command) => command.run(),
        Command::Passphrase(command) => command.run(),
        Command::Unlock(command) => command.run(),
        Command::Lock(command) => command.run(),
        Command::Tls(command) => command.run(),
        Command::Answers(command) => command.run(),
        Command::Cache(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Cloud(command) => command.run(),
        Command::Open(command) => command.run(),
        Command::Publish(command) => command.run(),
        Command::Forget(command) => command.run(),
        Command::Retain(command) => command.run(),
        Command::Keys(command) => command.run(),
        Command::Grammar(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Seal(command) => command.run(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("sotto: {error:#}");
            let owner = error.downcast_ref::<sotto_owner::OwnerError>();
            owner.map_or(ExitCode::FAILURE, |error| ExitCode::from(error.exit_code()))
        }
    }
}
