//! `sotto`: the owner's command line.

mod demo;
mod eval;
mod keys;
mod memory;
mod output;
mod phases;
mod plan;
mod plant;
mod seal;
mod values;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    Init(plant::InitArguments),
    /// Declare channels: the quantities that devices measure.
    Channel(plant::ChannelArguments),
    /// Declare questions that are asked again and again.
    Question(plant::QuestionArguments),
    /// Add devices, and make their bundles.
    Device(plant::DeviceArguments),
    /// Ask a question of the data in the cloud.
    Ask(plant::AskArguments),
    /// Declare alarms: conditions that `sotto watch` evaluates.
    Alarm(plant::AlarmArguments),
    /// Evaluate the alarms as data comes in, and tell of their changes.
    Watch(plant::WatchArguments),
    /// Show the scheme, the parameters, keys and bytes that questions take, and why.
    Plan(plant::PlanArguments),
    /// Show devices, the readings that have arrived and those that are missing.
    Status(plant::StatusArguments),
    /// Make the cloud's TLS certificate, and a private authority of the plant that signs it.
    Tls(plant::TlsArguments),
    /// Show earlier answers.
    Answers(plant::AnswersArguments),
    /// Repeat the work behind an answer on the windows that the devices signed, and compare the results with the
    /// cloud's.
    Verify(plant::VerifyArguments),
    /// Show and pin the key with which the cloud signs; accept its logs after a backup was restored.
    Cloud(plant::CloudArguments),
    /// Print a verified answer in a form that may be given to others.
    Publish(plant::PublishArguments),
    /// Delete windows of a device from the cloud, and the answers about them.
    Forget(plant::ForgetArguments),
    /// Run a cloud, two devices and their owner on this machine, on its own sensors.
    Demo(demo::Arguments),
    /// Encrypt the numbers of an expression, compute on the ciphertexts, decrypt: the smallest example.
    Eval(eval::Arguments),
    /// Make the secret of a device.
    Keys(keys::Arguments),
    /// Describe files of Microsoft SEAL, and convert them to our formats and back.
    Seal(seal::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Init(arguments) => plant::init(arguments),
        Command::Channel(arguments) => plant::channel(arguments),
        Command::Question(arguments) => plant::question(arguments),
        Command::Device(arguments) => plant::device(arguments),
        Command::Ask(arguments) => plant::ask(&arguments),
        Command::Alarm(arguments) => plant::alarm(arguments),
        Command::Watch(arguments) => plant::watch(&arguments),
        Command::Plan(arguments) => plant::plan(&arguments),
        Command::Status(arguments) => plant::status(&arguments),
        Command::Tls(arguments) => plant::tls(&arguments),
        Command::Answers(arguments) => plant::answers(&arguments),
        Command::Verify(arguments) => plant::verify(&arguments),
        Command::Cloud(arguments) => plant::cloud(&arguments),
        Command::Publish(arguments) => plant::publish(&arguments),
        Command::Forget(arguments) => plant::forget(&arguments),
        Command::Keys(arguments) => keys::run(&arguments),
        Command::Seal(arguments) => seal::run(&arguments),
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
