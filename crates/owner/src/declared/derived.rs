//! Channels that devices compute from others.

use std::collections::BTreeSet;

use sotto_pack::{Derived, Formula, StreamProfile};

use super::settings::{ChannelSettings, KindName, Settings};
use crate::amount::Range;

/// Returns a channel that devices compute by a formula: its range follows from those of its channels, its unit, resolution and
/// period are theirs unless they are given.
///
/// # Errors
/// The reason why the formula cannot be computed, or why its unit is not known.
pub fn derived(
    settings: &Settings,
    formula: Formula,
    unit: Option<String>,
    resolution: Option<f64>,
) -> Result<ChannelSettings, String> {
    let parts: Vec<(&str, &ChannelSettings)> = parts(settings, &formula)?;
    let Some((_, first)) = parts.first() else { return Err("a formula has a channel".to_owned()) };
    let units: BTreeSet<&str> = parts.iter().map(|(_, part)| part.unit.as_str()).collect();
    let unit = match (unit, formula.is_linear() && units.len() == 1) {
        (Some(unit), _) => unit,
        (None, true) => first.unit.clone(),
        (None, false) => {
            return Err(
                "the unit of its values does not follow from those of its channels: say it with --unit"
                    .to_owned(),
            );
        }
    };
    let finest = parts.iter().map(|(_, part)| part.resolution).fold(f64::INFINITY, f64::min);
    let ends = |name: &str| {
        let range = settings.channels.get(name).map(|part| part.range);
        range.map_or((f64::NEG_INFINITY, f64::INFINITY), |range| (range.minimum, range.maximum))
    };
    let (minimum, maximum) = formula.between(ends);
    if minimum >= maximum {
        return Err(format!("it is {minimum} for all readings within the declared ranges"));
    }
    let range = Range { minimum: tidy(minimum), maximum: tidy(maximum) };
    let new = ChannelSettings::new(unit, range, resolution.unwrap_or(finest), first.every);
    Ok(ChannelSettings { derived: Some(formula), ..new })
}

/// Rounds to 12 digits, after which arithmetic on decimals leaves remains.
fn tidy(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// Returns the channels of a formula, if devices can compute it.
fn parts<'s>(
    settings: &'s Settings,
    formula: &Formula,
) -> Result<Vec<(&'s str, &'s ChannelSettings)>, String> {
    let mut parts: Vec<(&str, &ChannelSettings)> = Vec::new();
    for name in formula.channels() {
        let Some((name, part)) = settings.channels.get_key_value(name) else {
            return Err(settings.no_channel(name));
        };
        if part.derived.is_some() {
            return Err(format!("{name} is derived itself: write its formula in the place of its name"));
        }
        if matches!(part.kind, KindName::State | KindName::Angle) {
            return Err(format!("{name} is a {}, which is no number to compute with", part.kind.word()));
        }
        if let Some((other, first)) = parts.first()
            && first.every != part.every
        {
            return Err(format!(
                "{other} is read every {}, {name} every {}: only readings of the same time are combined",
                first.every, part.every
            ));
        }
        parts.push((name, part));
    }
    Ok(parts)
}

impl Settings {
    /// Checks the formula of a channel, if it has one.
    pub(super) fn check_derived(&self, channel: &ChannelSettings) -> Result<(), String> {
        let Some(formula) = &channel.derived else { return Ok(()) };
        let parts = parts(self, formula)?;
        match parts.first().filter(|(_, part)| part.every != channel.every) {
            Some((name, part)) => Err(format!(
                "it is read every {}, {name} every {}: both have one period",
                channel.every, part.every
            )),
            None => Ok(()),
        }
    }

    /// Returns why a device cannot send its derived channels; None if it can.
    pub(super) fn lacks_parts(&self, channels: &[String]) -> Option<String> {
        channels.iter().find_map(|name| {
            let formula = self.channels.get(name)?.derived.as_ref()?;
            let lacking: Vec<&str> = formula
                .channels()
                .into_iter()
                .filter(|part| !channels.iter().any(|own| own == part))
                .collect();
            (!lacking.is_empty())
                .then(|| format!("{name} = {formula} is computed from {}: name it, too", lacking.join(", ")))
        })
    }

    /// Returns the channels of streams that a device computes, with the names that streams have.
    pub(crate) fn derived_in(&self, streams: &[StreamProfile]) -> Vec<Derived> {
        let names: BTreeSet<&str> =
            streams.iter().flat_map(|stream| &stream.channels).map(|channel| channel.name.as_str()).collect();
        let of = |wire: &str| {
            let formula = self.channels.get(self.shown_channel(wire))?.derived.as_ref()?;
            let parts = formula.channels().into_iter().filter_map(|part| {
                let settings = self.channels.get(part)?;
                Some(settings.described(self.wire_channel(part)))
            });
            let of = parts.collect();
            let formula = formula.clone().renamed(|name| self.wire_channel(name).to_owned());
            Some(Derived { channel: wire.to_owned(), formula, of })
        };
        names.into_iter().filter_map(of).collect()
    }
}
