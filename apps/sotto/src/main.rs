//! `sotto`: the owner's command line.

mod demo;
mod eval;
mod keys;
mod lab;
mod memory;
mod output;
mod phases;
mod plan;
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
    /// Run a cloud, two devices and their owner on this machine, on its own sensors.
    Demo(demo::Arguments),
    /// Encrypt the numbers of an expression, compute on the ciphertexts, decrypt: the smallest round trip.
    Eval(eval::Arguments),
    /// Show the parameters, keys and steps that would be chosen for a program.
    Plan(plan::Arguments),
    /// Make the secret of a device.
    Keys(keys::Arguments),
    /// Say what files of Microsoft SEAL are, and convert them to ours and back.
    Seal(seal::Arguments),
    /// Measure this library and others on this machine, and show the results.
    Lab(lab::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Keys(arguments) => keys::run(&arguments),
        Command::Seal(arguments) => seal::run(&arguments),
        Command::Lab(arguments) => lab::run(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("sotto: {error:#}");
            ExitCode::FAILURE
        }
    }
}
