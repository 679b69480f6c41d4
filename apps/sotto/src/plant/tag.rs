//! `sotto device tag`, `sotto channel tag`: words by which questions choose devices and channels.

use anyhow::bail;
use clap::Args;
use serde_json::json;
use sotto_owner::{Change, OwnerError, Plant, edit};

use super::price::{Declaring, changes, prices, say_changes, say_dry};
use crate::output::say;

/// Arguments of `sotto device tag` and `sotto channel tag`.
#[derive(Args, Debug)]
pub(crate) struct Tag {
    /// The device or the channel
    name: String,
    /// The tags; without them, those that it has are listed
    tags: Vec<String>,
    /// Take the tags away
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    declaring: Declaring,
}

/// The things that have tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Device,
    Channel,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Channel => "channel",
        }
    }

    fn tags(self, plant: &Plant, name: &str) -> Result<Vec<String>, OwnerError> {
        let settings = plant.settings();
        let tags = match self {
            Self::Device => settings.devices.get(name).map(|device| device.tags.clone()),
            Self::Channel => settings.channels.get(name).map(|channel| channel.tags.clone()),
        };
        tags.ok_or_else(|| OwnerError::NotDeclared { kind: self.word(), name: name.to_owned() })
    }
}

impl Tag {
    pub(crate) fn run(self, plant: &mut Plant, kind: Kind) -> anyhow::Result<()> {
        let Self { name, tags, remove, declaring: Declaring { dry_run, json } } = self;
        let present = kind.tags(plant, &name)?;
        if tags.is_empty() {
            if remove {
                bail!("name the tags to remove: sotto {} tag {name} TAG --remove", kind.word());
            }
            report(kind, &name, &present, &[], (false, json))?;
            return Ok(());
        }
        let mut new = present.clone();
        if remove {
            if let Some(lacking) = tags.iter().find(|tag| !present.contains(tag)) {
                bail!("{name} has no tag {lacking}{}", of(&present, "; it has "));
            }
            new.retain(|tag| !tags.contains(tag));
        } else {
            let more: Vec<String> = tags.into_iter().filter(|tag| !present.contains(tag)).collect();
            new.extend(more);
        }
        let set: fn(&mut _, &str, &[String]) -> _ = match kind {
            Kind::Device => edit::set_device_tags,
            Kind::Channel => edit::set_channel_tags,
        };
        let after = plant.edited(|document| set(document, &name, &new))?;
        // Declared questions that name a tag are about other devices now.
        let changes: Vec<Change> = changes(&after, &prices(plant), prices(&after))?
            .into_iter()
            .filter(|change| change.before.as_ref() != Some(&change.after))
            .collect();
        if !dry_run {
            let mut now = Vec::new();
            plant.edit(|document| {
                // Another process may have changed them since this one read them.
                now = match kind {
                    Kind::Device => edit::device_tags(document, &name),
                    Kind::Channel => edit::channel_tags(document, &name),
                };
                now.retain(|tag| !present.contains(tag) || new.contains(tag));
                let more: Vec<String> = new.iter().filter(|tag| !now.contains(tag)).cloned().collect();
                now.extend(more);
                set(document, &name, &now)
            })?;
            new = now;
        }
        report(kind, &name, &new, &changes, (dry_run, json))
    }
}

fn report(
    kind: Kind,
    name: &str,
    tags: &[String],
    changes: &[Change],
    (dry_run, json): (bool, bool),
) -> anyhow::Result<()> {
    if json {
        let report = json!({kind.word(): name, "tags": tags, "dry_run": dry_run, "prices": changes});
        say(serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    let shown = if tags.is_empty() { "no tags".to_owned() } else { of(tags, "") };
    say(format!("{} {name}: {shown}", kind.word()));
    say_changes(changes);
    for Change { device, .. } in changes {
        say(format!("  {device}: what changes takes a new bundle: sotto device renew {device}"));
    }
    if dry_run {
        say_dry();
    }
    Ok(())
}

/// Returns tags in words after `before`; nothing if there are none.
pub(crate) fn of(tags: &[String], before: &str) -> String {
    match tags {
        [] => String::new(),
        [one] => format!("{before}tag {one}"),
        tags => format!("{before}tags {}", tags.join(", ")),
    }
}
