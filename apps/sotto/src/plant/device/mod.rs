//! `sotto device`: devices and their bundles.

pub(crate) mod add;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;
use sotto_cloud_client::CloudError;
use sotto_owner::{
    Change, Chosen, DeviceRecord, Enrolled, Every, Found, OwnerError, Plant, Price, Restored, Taken,
};

use super::forget::confirmed;
use super::group::OnPlant;
use super::price::{Declaring, changes_lines, say_changes, say_dry, say_never_raised};
use super::progress::waiting;
use super::tag::{self, Kind as Tagged, Tag};
use crate::output::say;

const CHOOSING: &str = "choosing parameters";

const LOOKING: &str = "looking for the record";

/// The commands of `sotto device`.
#[derive(Subcommand, Debug)]
pub(crate) enum Device {
    /// Add a device and write its bundle, the one file that the device needs.
    Add(add::New),
    /// Take a device back from its bundle: its secrets, its record, and its place in sotto.toml.
    Adopt {
        /// The bundle's file
        bundle: PathBuf,
        /// As one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Take over the record that the cloud has of a device, after another copy of this folder has written it.
    Take {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::device))]
        name: String,
        /// As one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Write a new bundle for a device, for the questions that are declared now.
    Renew {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::device))]
        name: String,
        /// The bundle's file [default: NAME-2.bundle in this folder, then NAME-3.bundle]
        #[arg(long, value_name = "FILE")]
        bundle: Option<PathBuf>,
        #[command(flatten)]
        declaring: Declaring,
    },
    /// Give a device another name, in sotto.toml with its questions and alarms. Its bundle and the cloud go on using the
    /// first one.
    Rename {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::device))]
        name: String,
        /// Its new name
        new: String,
    },
    /// Revoke a device and take it out of sotto.toml. Its stored windows stay in answers; `sotto forget` deletes them.
    Remove {
        /// Its name
        #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::device))]
        name: String,
        /// Delete its secret as well: then only a copy of the secret or of the bundle can decrypt its windows
        #[arg(long)]
        destroy_secret: bool,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Give a device tags, or list those that it has.
    Tag(Tag),
    /// List the devices.
    List {
        /// As one JSON document
        #[arg(long)]
        json: bool,
    },
}

impl OnPlant for Device {
    fn run(self, plant: &mut Plant) -> anyhow::Result<ExitCode> {
        match self {
            Self::Add(new) => add::add(plant, new)?,
            Self::Adopt { bundle, json } => {
                let restored = waiting(LOOKING, || plant.adopt(&bundle))?;
                if json {
                    say(serde_json::to_string_pretty(&restored)?);
                } else {
                    brought_back(&restored);
                    for channel in &restored.channels {
                        say(format!("channel {channel}: put back into sotto.toml as the bundle has it"));
                    }
                    say(format!(
                        "Next: sotto status; a bundle for new questions: sotto device renew {}",
                        restored.device
                    ));
                }
            }
            Self::Take { name, json } => {
                let taken = waiting(LOOKING, || plant.take(&name))?;
                if json {
                    say(serde_json::to_string_pretty(&taken)?);
                } else {
                    took(&taken);
                }
            }
            Self::Renew { name, bundle, declaring: Declaring { dry_run, json } } => {
                let file = bundle.map_or_else(|| next_bundle(plant, &name), Ok)?;
                say_never_raised(plant)?;
                if dry_run {
                    let streams = waiting(CHOOSING, || plant.renewable(&name, &file))?;
                    planned(&name, &file, &streams, json)?;
                } else {
                    let enrolled = waiting(CHOOSING, || plant.renew(&name, &file))?;
                    report(plant, &name, &enrolled, json)?;
                }
            }
            Self::Rename { name, new } => {
                plant.rename_device(&name, &new)?;
                let wire = plant.settings().wire_device(&new);
                say(format!("device {new}: was {name}; its bundle and the cloud go on calling it {wire}"));
            }
            Self::Remove { name, destroy_secret, yes } => {
                let asked = format!(
                    "The secret of {name} is deleted: its windows in the cloud can never be decrypted again"
                );
                if destroy_secret && !yes && !confirmed(&asked)? {
                    return Ok(ExitCode::from(2));
                }
                plant.remove_device(&name, destroy_secret)?;
                say(format!("device {name}: revoked, and taken out of sotto.toml"));
                if !destroy_secret {
                    say(format!(
                        "Its windows stay in the cloud and in answers, and its secret here: sotto device add {name} brings it back."
                    ));
                }
            }
            Self::Tag(tag) => tag.run(plant, Tagged::Device)?,
            Self::List { json } => {
                let devices = plant.devices()?;
                if json {
                    say(serde_json::to_string_pretty(&with_tags(plant, &devices)?)?);
                } else {
                    for (name, settings) in &plant.settings().devices {
                        let enrolled =
                            if devices.contains_key(name) { "" } else { " (not enrolled: sotto device add)" };
                        let tags = tag::of(&settings.tags, "; ");
                        say(format!("{name}: {}{tags}{enrolled}", settings.channels.join(", ")));
                    }
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the records of devices with the tags of `sotto.toml`.
fn with_tags(
    plant: &Plant,
    devices: &BTreeMap<String, DeviceRecord>,
) -> serde_json::Result<BTreeMap<String, serde_json::Value>> {
    let one = |(name, record): (&String, &DeviceRecord)| {
        let mut record = serde_json::to_value(record)?;
        record["tags"] = json!(plant.settings().devices.get(name).map(|device| &device.tags));
        Ok((name.clone(), record))
    };
    devices.iter().map(one).collect()
}

/// Returns the usual file of a device's next bundle.
pub(crate) fn next_bundle(plant: &Plant, name: &str) -> Result<PathBuf, OwnerError> {
    let number = plant.device(name)?.map_or(0, |record| record.bundles.len()) + 1;
    Ok(format!("{name}-{number}.bundle").into())
}

/// Tells where a record came from, on standard error, so that a JSON document stays one.
fn brought_back(restored: &Restored) {
    let Restored { device, from, bundles, cloud_is_away, .. } = restored;
    let from = match from {
        Found::Here => "was in its place",
        Found::Registration => "came back from its registration in enrolments",
        Found::Cloud => "came back from the cloud",
        Found::Bundle => "came back from the bundle",
    };
    let of = if *bundles == 1 { "1 bundle".to_owned() } else { format!("{bundles} bundles") };
    eprintln!("note: the record of {device}, of {of}, {from}");
    if let Some(reason) = cloud_is_away {
        eprintln!(
            "note: the cloud was not asked ({reason}). It may know newer bundles: `sotto status` tells when it is in reach"
        );
    }
}

/// Tells what a taken record has.
fn took(taken: &Taken) {
    let Taken { device, bundles, registered, left_out, revoked } = taken;
    let of = if *bundles == 1 { "1 bundle".to_owned() } else { format!("{bundles} bundles") };
    say(format!("{device}: the record of the cloud is taken over, with {of}"));
    for number in registered {
        say(format!("  bundle {number} of this folder was not registered, and is now"));
    }
    for number in left_out {
        say(format!(
            "  bundle {number} of this folder has the streams of another one, and is left out: give the device a new \
             bundle with `sotto device renew {device}`"
        ));
    }
    if *revoked {
        say(format!("  revoked: the cloud refuses its windows; sotto device renew {device} brings it back"));
    }
}

fn report(plant: &Plant, name: &str, enrolled: &Enrolled, json: bool) -> anyhow::Result<()> {
    let Enrolled { bundle, streams, not_registered } = enrolled;
    let prices = [Change { device: name.to_owned(), before: None, after: Price::of(streams) }];
    if json {
        let streams: Vec<_> = streams.iter().map(sotto_owner::stream_report).collect();
        let report = json!({
            "device": name, "bundle": bundle, "dry_run": false, "registered": not_registered.is_none(), "prices": prices,
            "streams": streams,
        });
        say(serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    let public = streams.iter().any(|stream| stream.stream.public);
    let holds =
        if public { "its signing key, and public keys that cannot decrypt" } else { "the device's secret" };
    let bundle_shown = bundle.display();
    say(format!("{bundle_shown}: give it to the device {name} and to nobody else (it holds {holds})."));
    if public && earlier_bundles_hold_the_secret(plant, name)? {
        say(format!("Earlier bundles of {name} hold its secret: delete every copy of them."));
    }
    say_changes(&prices);
    say_streams(streams);
    not_registered.iter().map(unregistered).for_each(say);
    if let Some(note) = plant.not_pinned() {
        say(format!("note: {note}"));
    }
    say(format!(
        "On the device: sotto-agent run --bundle {} --csv FILE --time COLUMN --column CHANNEL=COLUMN",
        bundle.display()
    ));
    Ok(())
}

/// Says why a device is not registered yet.
fn unregistered(error: &OwnerError) -> String {
    match error {
        OwnerError::Cloud(CloudError::Away { .. }) => {
            "The cloud cannot be reached yet: it registers the device when it starts, or `sotto status` does."
                .to_owned()
        }
        error => format!("It is not registered yet: {error}. `sotto status` registers it."),
    }
}

/// Returns a line if a device is not registered yet.
pub(crate) fn registered_lines(enrolled: &Enrolled) -> Vec<String> {
    enrolled.not_registered.iter().map(unregistered).collect()
}

/// Returns the price of a bundle, and its streams, a line each.
pub(crate) fn bundle_lines(name: &str, streams: &[Chosen]) -> Vec<String> {
    let prices = [Change { device: name.to_owned(), before: None, after: Price::of(streams) }];
    let streams = streams.iter().map(|stream| format!("  {}", describe(stream)));
    changes_lines(&prices).into_iter().chain(streams).collect()
}

/// Tells what a bundle would be, which is not made.
fn planned(name: &str, bundle: &Path, streams: &[Chosen], json: bool) -> anyhow::Result<()> {
    let prices = [Change { device: name.to_owned(), before: None, after: Price::of(streams) }];
    if json {
        let streams: Vec<_> = streams.iter().map(sotto_owner::stream_report).collect();
        let report = json!({
            "device": name, "bundle": bundle, "dry_run": true, "registered": false, "prices": prices, "streams": streams,
        });
        say(serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    say(format!("device {name}: its bundle would be {}.", bundle.display()));
    say_changes(&prices);
    say_streams(streams);
    say_dry();
    Ok(())
}

fn say_streams(streams: &[Chosen]) {
    for stream in streams {
        say(format!("  {}", describe(stream)));
    }
    if streams.iter().all(|stream| stream.stream.questions.is_empty()) {
        say(
            "  No question is declared about its channels yet: it sends the data for means and standard deviations by day.",
        );
    }
}

/// Returns true if the device had a bundle with its secret.
fn earlier_bundles_hold_the_secret(plant: &Plant, name: &str) -> Result<bool, OwnerError> {
    let record = plant.device(name)?;
    let streams = record.iter().flat_map(|record| &record.bundles).flat_map(|bundle| &bundle.streams);
    Ok(streams.into_iter().any(|stream| !stream.public))
}

/// Describes a stream in one line.
pub(in crate::plant) fn describe(chosen: &Chosen) -> String {
    let every = chosen.stream.name();
    let each = chosen.window_bytes as f64 / chosen.readings().max(1) as f64;
    let (span, length) = match chosen.cut.span {
        sotto_pack::Span::Hour => ("hour", 3_600_000),
        sotto_pack::Span::Day => ("day", 86_400_000),
        sotto_pack::Span::Week => ("week", 7 * 86_400_000u64),
        sotto_pack::Span::Month => ("month", 31 * 86_400_000),
    };
    let window = chosen.cut.period.after(chosen.cut.ticks.into()).unsigned_abs();
    let windows = length.div_ceil(window);
    // A window has one reading at least.
    let span = match chosen.cut.period {
        period if u64::from(period.ceil()) > length => Every { period }.to_string(),
        _ => span.to_owned(),
    };
    let windows = if windows == 1 { "a window".to_owned() } else { format!("{windows} windows") };
    let form = match chosen.sent() {
        Some((places, bits)) => format!(", compact: {places} places of {bits} bits"),
        None if chosen.stream.public => ", whole: under a public key".to_owned(),
        None if chosen.spec.is_none() => match chosen.sums.len() {
            1 => ", with a tag".to_owned(),
            parts => format!(", with {parts} tags"),
        },
        None => String::new(),
    };
    let degree = chosen.spec.as_ref().map(|spec| format!(", n = {}", spec.degree)).unwrap_or_default();
    format!(
        "{every}: {}{degree}, {windows} every {span}, each of up to {} readings in {} bytes ({each:.0} a reading){form}",
        chosen.scheme(),
        chosen.readings(),
        chosen.window_bytes,
    )
}
