//! `sotto channel`: the quantities that devices measure.

use std::process::ExitCode;

use clap::Subcommand;
use sotto_owner::{Every, Range, edit};

use super::Place;
use crate::output::say;

/// Arguments of `sotto channel`.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    place: Place,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Declare a channel.
    Add {
        /// Its name: letters, digits, _ . -
        name: String,
        /// The unit, such as °C
        #[arg(long, default_value = "")]
        unit: String,
        /// The smallest and the largest possible value, such as -20..120; a reading outside the range is left out and
        /// counted
        #[arg(long, allow_hyphen_values = true)]
        range: Range,
        /// The step between two values that matter, such as 0.1: exact answers are right to half a step
        #[arg(long, allow_negative_numbers = true)]
        resolution: f64,
        /// The time between two readings, such as 0.5s, 30s, 5m, 1h; at most a day
        #[arg(long)]
        every: Every,
        /// Devices also send the readings in a form in which the cloud compares them with limits chosen later: larger
        /// windows, see `sotto plan`
        #[arg(long)]
        comparable: bool,
    },
    /// Take a channel out of sotto.toml. Its stored readings stay.
    Remove {
        /// Its name
        name: String,
    },
    /// List the channels.
    List {
        /// As one JSON document
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut plant = arguments.place.open()?;
    match arguments.command {
        Command::Add { name, unit, range, resolution, every, comparable } => {
            let channel = edit::NewChannel { unit, range, resolution, every, comparable };
            plant.edit(|document| edit::add_channel(document, &name, &channel))?;
            say(format!("channel {name}: {}", describe(&plant, &name)));
        }
        Command::Remove { name } => {
            plant.remove_channel(&name)?;
            say(format!("channel {name}: removed"));
        }
        Command::List { json: true } => say(serde_json::to_string_pretty(&plant.settings().channels)?),
        Command::List { json: false } => {
            for name in plant.settings().channels.keys() {
                say(format!("{name}: {}", describe(&plant, name)));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(plant: &sotto_owner::Plant, name: &str) -> String {
    let Some(channel) = plant.settings().channels.get(name) else { return String::new() };
    let unit = if channel.unit.is_empty() { String::new() } else { format!(" {}", channel.unit) };
    let Range { minimum, maximum } = channel.range;
    format!("{minimum} to {maximum}{unit} in steps of {}, every {}", channel.resolution, channel.every)
}
