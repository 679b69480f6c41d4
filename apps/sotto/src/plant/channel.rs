//! `sotto channel`: the quantities that devices measure.

use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use sotto_owner::settings::{ChannelSettings, DeviceSettings, KindName};
use sotto_owner::{Every, Hold, OwnerError, Plant, Price, Range, edit};
use sotto_pack::{Angle, Formula, Several};

use super::group::OnPlant;
use super::price::{Declaring, Prices, changes, prices, say_changes, say_dry};
use super::tag::{self, Kind as Tagged, Tag};
use crate::output::say;

/// The commands of `sotto channel`.
#[derive(Subcommand, Debug)]
pub(crate) enum Channel {
    /// Declare a channel.
    Add(Box<New>),
    /// Declare a channel that devices compute from others: `delta = inlet - outlet`, 'cold = max(18 - room, 0)'.
    #[command(after_help = DERIVE_HELP)]
    Derive(Box<NewDerived>),
    /// Give a channel another name, in sotto.toml with its questions and alarms. Devices go on using the first one.
    Rename {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::channel))]
        name: String,
        /// Its new name
        new: String,
    },
    /// Take a channel out of sotto.toml. Its stored readings stay.
    Remove {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::channel))]
        name: String,
    },
    /// Give a channel tags, or list those that it has.
    Tag(Tag),
    /// List the channels.
    List {
        /// As one JSON document
        #[arg(long)]
        json: bool,
    },
}

/// The text below the options of `sotto channel derive`.
const DERIVE_HELP: &str = "The formula has channels, numbers, +, -, *, min, max, abs and parentheses. A device sends a value where \
                           all of these channels have a reading.";

/// Returns the error of wrong arguments.
fn wrong(reason: String) -> OwnerError {
    OwnerError::Argument(reason)
}

/// A new channel that is computed from others.
#[derive(Args, Debug)]
pub(crate) struct NewDerived {
    /// Its name, = and its formula
    #[arg(required = true, value_name = "NAME = FORMULA", allow_negative_numbers = true)]
    text: Vec<String>,
    /// The unit [default: that of its channels]
    #[arg(long)]
    unit: Option<String>,
    /// The step between two values that matter [default: the finest of its channels]
    #[arg(long)]
    resolution: Option<f64>,
    /// The smallest and the largest possible value [default: those that follow from the ranges of its channels]
    #[arg(long, allow_hyphen_values = true)]
    range: Option<Range>,
    #[command(flatten)]
    declaring: Declaring,
}

/// A new channel.
#[derive(Args, Debug)]
pub(crate) struct New {
    /// Its name: letters, digits, _ . -
    name: String,
    /// The unit, such as °C
    #[arg(long, default_value = "")]
    unit: String,
    /// What its readings are [default: gauge, or state with --states]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// The words of a state, such as closed,open: the first is 0. A state holds until the next report
    #[arg(long, value_delimiter = ',')]
    states: Vec<String>,
    /// The smallest and the largest possible value, such as -20..120; a reading outside the range is left out and counted
    #[arg(long, allow_hyphen_values = true)]
    range: Option<Range>,
    /// The step between two values that matter, such as 0.1: exact answers are right to half a step
    #[arg(long, allow_negative_numbers = true)]
    resolution: Option<f64>,
    /// The time between two readings, such as 0.5s, 30s, 5m, 1h, 7d, 60Hz, 1/60s; from 1ms to 30d. Readings that come
    /// more often are one, those of a sensor that reports changes hold
    #[arg(long)]
    every: Every,
    /// For a sensor that reports changes alone: the time that a reading holds at most, such as 1d
    #[arg(long)]
    hold: Option<Hold>,
    /// The largest increase of a counter from one reading to the next: tells a new beginning from the passing of its end
    #[arg(long, value_name = "VALUE")]
    at_most: Option<f64>,
    /// What several readings in the time of one are: first, last, mean, min, max, sum, or refuse [default: the mean; of a
    /// counter, a state or an angle the last; of amounts the sum]
    #[arg(long, value_name = "WORD")]
    several: Option<Word>,
    /// Devices also send the readings in a form in which the cloud compares them with limits chosen later: larger windows,
    /// see `sotto plan`
    #[arg(long)]
    comparable: bool,
    #[command(flatten)]
    declaring: Declaring,
}

impl OnPlant for Channel {
    fn run(self, plant: &mut Plant) -> anyhow::Result<ExitCode> {
        match self {
            Self::Add(new) => {
                let declaring = new.declaring;
                let (name, channel) = new.settings()?;
                add(plant, &name, &channel, declaring)?;
            }
            Self::Derive(new) => {
                let declaring = new.declaring;
                let (name, channel) = new.settings(plant)?;
                add(plant, &name, &channel, declaring)?;
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
            Self::Tag(tag) => tag.run(plant, Tagged::Channel)?,
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

fn add(
    plant: &mut Plant,
    name: &str,
    channel: &ChannelSettings,
    Declaring { dry_run, json }: Declaring,
) -> anyhow::Result<()> {
    let after = plant.edited(|document| edit::add_channel(document, name, channel))?;
    // A channel that no device can send is refused.
    let parts = channel.derived.iter().flat_map(Formula::channels).map(str::to_owned);
    let channels = parts.chain([name.to_owned()]).collect();
    let alone = DeviceSettings { channels, public: false, tags: Vec::new(), wire: None };
    let streams = after.streams_for("", &alone)?;
    let changes = if plant.settings().devices.is_empty() {
        changes(&after, &prices(plant), prices(&after))?
    } else {
        // No device measures it yet.
        let price: Prices = Ok(vec![("a device with this channel alone".to_owned(), Price::of(&streams))]);
        changes(&after, &Ok(Vec::new()), price)?
    };
    if !dry_run {
        plant.edit(|document| edit::add_channel(document, name, channel))?;
    }
    let described = describe(&after, name);
    if json {
        let report = json!({"channel": name, "readings": described, "dry_run": dry_run, "prices": changes});
        say(serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    say(format!("channel {name}: {described}"));
    say_changes(&changes);
    if dry_run {
        say_dry();
    }
    Ok(())
}

impl NewDerived {
    fn settings(self, plant: &Plant) -> anyhow::Result<(String, ChannelSettings)> {
        let Self { text, unit, resolution, range, .. } = self;
        let text = text.join(" ");
        let (name, formula) = text.split_once('=').ok_or_else(|| {
            wrong("write NAME = FORMULA, as in `sotto channel derive delta = inlet - outlet`".to_owned())
        })?;
        let (name, formula) = (name.trim(), formula.trim());
        let formula: Formula =
            formula.parse().map_err(|error| wrong(format!("the formula {formula}: {error}")))?;
        let settings = plant.settings();
        let mut channel = sotto_owner::derived(settings, formula, unit, resolution)
            .map_err(|reason| wrong(format!("{name} cannot be derived: {reason}")))?;
        channel.range = range.unwrap_or(channel.range);
        Ok((name.to_owned(), channel))
    }
}

impl New {
    fn settings(self) -> anyhow::Result<(String, ChannelSettings)> {
        let Self { name, unit, kind, states, range, resolution, every, hold, at_most, several, .. } = self;
        let comparable = self.comparable;
        let kind =
            kind.map_or(if states.is_empty() { KindName::Gauge } else { KindName::State }, KindName::from);
        let mut channel = match kind {
            KindName::State => ChannelSettings::of_states(states.iter().map(String::as_str), every),
            KindName::Angle => {
                let turn = Range { minimum: 0.0, maximum: Angle::turn(&unit) };
                ChannelSettings::new(unit.clone(), turn, 1.0, every)
            }
            _ => {
                let range = range.context("say which values are possible: --range -20..120")?;
                let resolution =
                    resolution.context("say which step between two values matters: --resolution 0.1")?;
                ChannelSettings::new(unit.clone(), range, resolution, every)
            }
        };
        channel.range = range.unwrap_or(channel.range);
        channel.resolution = resolution.unwrap_or(channel.resolution);
        let several = several.map(|Word(several)| several);
        Ok((name, ChannelSettings { unit, kind, states, hold, at_most, several, comparable, ..channel }))
    }
}

/// A kind of channel on the command line.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Kind {
    /// Samples of a quantity, as a temperature
    Gauge,
    /// A total that only grows, as that of a meter
    Counter,
    /// One of several states, as that of a contact
    State,
    /// What came since the reading before, as rain
    Amount,
    /// A direction, as that of wind
    Angle,
}

impl From<Kind> for KindName {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Gauge => Self::Gauge,
            Kind::Counter => Self::Counter,
            Kind::State => Self::State,
            Kind::Amount => Self::Amount,
            Kind::Angle => Self::Angle,
        }
    }
}

/// What several readings are, by its word.
#[derive(Clone, Copy, Debug)]
struct Word(Several);

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Several::ALL.into_iter().find(|several| several.word() == text);
        found.map(Self).ok_or_else(|| {
            let words: Vec<&str> = Several::ALL.iter().map(|several| several.word()).collect();
            format!("write one of {}", words.join(", "))
        })
    }
}

fn describe(plant: &sotto_owner::Plant, name: &str) -> String {
    let Some(channel) = plant.settings().channels.get(name) else { return String::new() };
    let unit = if channel.unit.is_empty() { String::new() } else { format!(" {}", channel.unit) };
    let Range { minimum, maximum } = channel.range;
    let values = match channel.kind {
        KindName::State => channel.states.join(" or "),
        _ => format!("{minimum} to {maximum}{unit} in steps of {}", channel.resolution),
    };
    let kind =
        if channel.kind == KindName::Gauge { String::new() } else { format!("{}, ", channel.kind.word()) };
    let mut text = format!("{kind}{values}, every {}", channel.every);
    if let Some(formula) = &channel.derived {
        text += &format!(", computed as {formula}");
    }
    if let Some(hold) = channel.hold {
        text += &format!(", a reading holds for {hold} at most");
    }
    if let Some(at_most) = channel.at_most {
        text += &format!(", at most {at_most}{unit} from one to the next");
    }
    if let Some(several) = channel.several {
        text += &format!(", of several the {}", several.word());
    }
    text + &tag::of(&channel.tags, "; ")
}
