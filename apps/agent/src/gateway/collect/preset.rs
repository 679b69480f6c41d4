//! The decoder that the arguments name: a preset, a file of one, or a topic with paths.

use std::fs::File;
use std::io::Read as _;

use anyhow::{Context as _, Result, bail};
use jiff::tz::TimeZone;
use sotto_preset::{Custom, Decoder, LONGEST_PRESET, Preset};

use crate::arguments::CollectArguments;

/// Returns the decoder that the arguments name.
///
/// # Errors
/// The preset is unknown, its file cannot be used, or neither a preset nor a topic is given.
pub(super) fn decoder(arguments: &CollectArguments, zone: &TimeZone) -> Result<Decoder> {
    let base = arguments.base.as_deref();
    let preset = match (&arguments.preset, &arguments.topic) {
        (Some(name), None) if name.contains(['/', '\\']) || name.ends_with(".toml") => {
            let mut text = String::new();
            let file = File::open(name).with_context(|| format!("the preset {name} cannot be read"))?;
            file.take(LONGEST_PRESET as u64 + 1)
                .read_to_string(&mut text)
                .with_context(|| format!("the preset {name} cannot be read"))?;
            Preset::read_based(&text, base).with_context(|| name.clone())?
        }
        (Some(name), None) => Preset::based(name, base)?,
        (None, Some(topic)) => {
            let pair = |text: &'_ String| match text.split_once('=') {
                Some((channel, path)) if !channel.contains(['$', '[', '.']) => {
                    (Some(channel.to_owned()), path.to_owned())
                }
                _ => (None, text.clone()),
            };
            let values: Vec<(Option<String>, String)> = arguments.value.iter().map(pair).collect();
            let values: Vec<(Option<&str>, &str)> =
                values.iter().map(|(channel, path)| (channel.as_deref(), &**path)).collect();
            Preset::custom(&Custom { topic, values: &values, time: arguments.time_path.as_deref() })?
        }
        _ => bail!(
            "--mqtt needs --preset NAME or --topic PATTERN; there are the presets {}",
            Preset::names().join(", ")
        ),
    };
    Ok(Decoder::new(preset, zone.clone()))
}
