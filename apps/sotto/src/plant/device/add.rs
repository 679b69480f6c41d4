//! `sotto device add`.

use std::path::{Path, PathBuf};

use sotto_owner::settings::DeviceSettings;
use sotto_owner::{Chosen, Enrolled, OwnerError, Plant, edit};

use super::{CHOOSING, LOOKING, brought_back, next_bundle, planned, report};
use crate::plant::price::Declaring;
use crate::plant::progress::waiting;

#[derive(clap::Args, Debug)]
pub(crate) struct New {
    /// Its name: letters, digits, _ . -
    name: String,
    /// The channels that it measures, separated by commas [default: those of its latest bundle]
    #[arg(long, value_delimiter = ',', add = clap_complete::ArgValueCompleter::new(crate::complete::channels))]
    channels: Vec<String>,
    /// Put public keys into the bundle in place of the device's secret: the device cannot read the windows that it has sent. They
    /// are whole ciphertexts, many times as long as compact ones
    #[arg(long)]
    public: bool,
    /// The bundle's file [default: NAME.bundle in this folder; NAME-2.bundle, if the device had one]
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    /// If the folder has a secret of this device and no record: put the secret aside, into secrets/old, and begin anew.
    /// What the device sent until now cannot be asked any more
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    declaring: Declaring,
}

/// A device to enrol, checked.
struct Checked {
    name: String,
    settings: DeviceSettings,
    /// The file of its bundle.
    file: PathBuf,
    /// True if `sotto.toml` declares it.
    is_declared: bool,
    /// True if it has a record: then its bundle is a further one.
    is_known: bool,
}

impl New {
    /// A device with these channels, whose bundle is to be this file.
    fn of(name: &str, channels: &[String], file: &Path, dry_run: bool) -> Self {
        Self {
            name: name.to_owned(),
            channels: channels.to_vec(),
            public: false,
            bundle: Some(file.to_owned()),
            replace: false,
            declaring: Declaring { dry_run, json: false },
        }
    }
}

/// Adds a device with these channels, and makes its bundle.
pub(crate) fn enrolled(
    plant: &mut Plant,
    name: &str,
    channels: &[String],
    file: &Path,
) -> anyhow::Result<Enrolled> {
    let checked = checked(plant, New::of(name, channels, file, false))?;
    waiting(CHOOSING, || plant.streams_for(name, &checked.settings))?;
    enrol(plant, &checked)
}

/// Returns the streams that a device with these channels would send.
pub(crate) fn streams_of(
    plant: &mut Plant,
    name: &str,
    channels: &[String],
    file: &Path,
) -> anyhow::Result<Vec<Chosen>> {
    let checked = checked(plant, New::of(name, channels, file, true))?;
    Ok(waiting(CHOOSING, || plant.streams_for(name, &checked.settings))?)
}

pub(super) fn add(plant: &mut Plant, new: New) -> anyhow::Result<()> {
    let declaring = new.declaring;
    let checked = checked(plant, new)?;
    let Checked { name, settings, file, is_declared, .. } = &checked;
    if declaring.dry_run || !is_declared {
        let streams = waiting(CHOOSING, || plant.streams_for(name, settings))?;
        if declaring.dry_run {
            return planned(name, file, &streams, declaring.json);
        }
    }
    let enrolled = enrol(plant, &checked)?;
    report(plant, name, &enrolled, declaring.json)
}

/// Refuses a name and channels that a declaration would refuse, before anything is written.
fn declarable(plant: &Plant, name: &str, channels: &[String]) -> Result<(), OwnerError> {
    let declared = &plant.settings().channels;
    if let Some(unknown) = channels.iter().find(|channel| !declared.contains_key(*channel)) {
        return Err(refused(name, &plant.settings().no_channel(unknown)));
    }
    plant.edited(|document| edit::add_device(document, name, channels)).map(drop)
}

/// Declares a device, and makes its bundle. The declaration goes again if there is no bundle.
fn enrol(plant: &mut Plant, checked: &Checked) -> anyhow::Result<Enrolled> {
    let Checked { name, settings, file, is_declared, is_known } = checked;
    if !is_declared {
        let add = if settings.public { edit::add_public_device } else { edit::add_device };
        let wire = plant.wire_device(name).to_owned();
        plant.edit(|document| {
            add(document, name, &settings.channels)?;
            if wire == *name { Ok(()) } else { edit::set_wire(document, name, &wire) }
        })?;
    }
    let enrolled =
        waiting(CHOOSING, || if *is_known { plant.renew(name, file) } else { plant.enrol(name, file) });
    if enrolled.is_err() && !is_declared {
        plant.edit(|document| edit::remove_device(document, name))?;
    }
    Ok(enrolled?)
}

/// Finds the device's settings, its record and the file of its bundle. Refuses a device that could not be declared.
fn checked(plant: &mut Plant, new: New) -> anyhow::Result<Checked> {
    let New { name, channels, public, bundle, replace, declaring: Declaring { dry_run, .. } } = new;
    let mut channels: Vec<String> = channels.iter().map(|channel| channel.trim().to_owned()).collect();
    let is_named = bundle.is_some();
    let mut file = bundle.unwrap_or_else(|| format!("{name}.bundle").into());
    // A device that was declared in sotto.toml by hand is enrolled with that declaration.
    let declaration = plant.settings().devices.get(&name).cloned();
    let is_declared = declaration.is_some();
    if public && declaration.as_ref().is_some_and(|device| !device.public) {
        let reason = "it is declared without `public = true`: write it there".to_owned();
        return Err(refused(&name, &reason).into());
    }
    if !is_declared {
        // The name becomes paths in the folder. Without channels it is tried with any: those of the bundle follow.
        let any: Vec<String> = plant.settings().channels.keys().take(1).cloned().collect();
        declarable(plant, &name, if channels.is_empty() { &any } else { &channels })?;
    }
    // A removed device that is added again keeps its keys.
    let mut is_known = plant.device(&name)?.is_some() && !is_declared;
    if is_known && !is_named {
        file = next_bundle(plant, &name)?;
    }
    if is_known && file.exists() {
        return Err(OwnerError::BundleExists { path: file }.into());
    } else if !is_known {
        match plant.can_enrol(&name, &file) {
            Err(OwnerError::HeldSecret { .. }) if dry_run => {}
            Err(OwnerError::HeldSecret { .. }) if replace => {
                plant.put_secrets_aside(&name)?;
                eprintln!("note: the secret of {name} is in secrets/old now");
            }
            Err(OwnerError::HeldSecret { .. }) => {
                let restored = waiting(LOOKING, || plant.restore(&name))?;
                brought_back(&restored);
                is_known = true;
                if !is_named && file.exists() {
                    file = next_bundle(plant, &name)?;
                }
            }
            enrollable => enrollable?,
        }
    }
    if channels.is_empty() {
        channels = plant.channels_of(&name)?;
        if !is_declared {
            if channels.is_empty() {
                return Err(refused(&name, "name its channels: --channels A,B").into());
            }
            declarable(plant, &name, &channels)?;
        }
    }
    let settings = declaration.unwrap_or(DeviceSettings { channels, public, tags: Vec::new(), wire: None });
    Ok(Checked { name, settings, file, is_declared, is_known })
}

fn refused(name: &str, reason: &str) -> OwnerError {
    OwnerError::Argument(format!("devices.{name}: {reason}"))
}
