//! `sotto channel`: the quantities that devices measure.

use std::process::ExitCode;

use clap::Subcommand;
use sotto_owner::{Every, Plant, Range, edit};

use super::group::OnPlant;
use crate::output::say;

/// The commands of `sotto channel`.
#[derive(Subcommand, Debug)]
pub(crate) enum Channel {
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
    /// Give a channel another name, in sotto.toml with its questions and alarms. Devices go on using the first one.
    Rename {
        /// Its name
        name: String,
        /// Its new name
        new: String,
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

impl OnPlant for Channel {
    fn run(self, plant: &mut Plant) -> anyhow::Result<ExitCode> {
        match self {
            Self::Add { name, unit, range, resolution, every, comparable } => {
                let channel = edit::NewChannel { unit, range, resolution, every, comparable };
                plant.edit(|document| edit::add_channel(document, &name, &channel))?;
                say(format!("channel {name}: {}", describe(plant, &name)));
            }
            Self::Rename { name, new } => {
                plant.rename_channel(&name, &new)?;
                let wire = plant.settings().wire_channel(&new);
                say(format!("channel {new}: was {name}; devices go on calling it {wire}"));
            }
            Self::Remove { name } => {
                plant.remove_channel(&name)?;
                say(format!("channel {name}: removed"));
            }
            Self::List { json: true } => say(serde_json::to_string_pretty(&plant.settings().channels)?),
            Self::List { json: false } => {
                for name in plant.settings().channels.keys() {
                    say(format!("{name}: {}", describe(plant, name)));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(plant: &sotto_owner::Plant, name: &str) -> String {
    let Some(channel) = plant.settings().channels.get(name) else { return String::new() };
    let unit = if channel.unit.is_empty() { String::new() } else { format!(" {}", channel.unit) };
    let Range { minimum, maximum } = channel.range;
    format!("{minimum} to {maximum}{unit} in steps of {}, every {}", channel.resolution, channel.every)
}
