//! Questions, compared with the streams that devices send.

use std::collections::BTreeSet;

use sotto_pack::StreamProfile;

use super::records;
use super::records::{DeviceRecord, spec_of};
use crate::declared::{Plant, is_alarm};
use crate::error::OwnerError;
use crate::language::By;
use crate::question::{ExactScheme, Question};
use crate::streams;
use crate::streams::{Kind, MOST_WINDOWS, StreamNeeds, fits, largest_result, layout_of};

/// Names of channels in a reason, at most.
const MOST_NAMES: usize = 4;

/// Returns the enrolled devices that a question concerns, each with the reason why its latest bundle does not
/// suffice, if so. `question_name` is the name of a declared question, whose precision and place of comparisons count, or
/// `alarm NAME`; else empty.
pub(crate) fn carried_by(
    plant: &Plant,
    question_name: &str,
    question: &Question,
) -> Result<Vec<(String, Option<String>)>, OwnerError> {
    let mut devices = Vec::new();
    let asked = std::collections::BTreeMap::from([(question_name.to_owned(), question.clone())]);
    for (name, record) in records::enrolled(plant)? {
        let Some(device) = plant.settings().devices.get(&name) else { continue };
        let calls = streams::of_calls(plant.settings(), &asked, &name, device);
        if !calls.is_empty() {
            let one_window = is_alarm(question_name) || question.by == Some(By::Window);
            let lacking = calls.iter().find_map(|stream| lacks(plant, &record, stream));
            let lacking = lacking.or_else(|| apart(plant, &record, question).filter(|_| one_window));
            devices.push((name, lacking));
        }
    }
    Ok(devices)
}

/// Returns a reason if no stream of a device's latest bundle has all channels of a question.
fn apart(plant: &Plant, record: &DeviceRecord, question: &Question) -> Option<String> {
    let (channels, latest) = (question.channels(), record.bundles.last()?);
    let has_all = |profile: &StreamProfile| {
        let names = profile.channels.iter().map(|channel| plant.settings().shown_channel(&channel.name));
        let names: BTreeSet<&str> = names.collect();
        channels.iter().all(|name| names.contains(name.as_str()))
    };
    let names = || channels.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    (!latest.streams.iter().any(has_all))
        .then(|| format!("it sends {} in windows of several streams", names()))
}

/// Returns the reason why a device's latest bundle does not support a call; None if it does.
fn lacks(plant: &Plant, record: &DeviceRecord, stream: &StreamNeeds) -> Option<String> {
    let latest = record.bundles.last()?;
    let scheme = stream.scheme.map(ExactScheme::id);
    let of_kind = |profile: &&StreamProfile| {
        let stated = || spec_of(profile).is_ok_and(|spec| spec.map(|spec| spec.scheme) == scheme);
        let same = Kind::of_profile(profile) == Some(stream.kind) && profile.period_ms == Some(stream.period);
        same && (scheme.is_none() || stated())
    };
    // A device may send readings in several streams; one that serves is enough. The reason is that of the nearest.
    let candidates: Vec<StreamProfile> =
        latest.streams.iter().filter(of_kind).map(|profile| records::shown(plant, profile)).collect();
    let mut nearest: Option<Lack> = None;
    for profile in &candidates {
        let lack = lacks_of(profile, stream)?;
        if nearest.as_ref().is_none_or(|nearest| lack.missing < nearest.missing) {
            nearest = Some(lack);
        }
    }
    let sends = |name: &String| candidates.iter().any(|profile| has(profile, name));
    Some(match nearest {
        None => format!("it sends no {} stream", stream.word()),
        Some(lack) if lack.missing > 0 && stream.channels.iter().all(sends) => {
            format!("it does not send {} in one window", listed(&stream.channels))
        }
        Some(lack) => lack.reason,
    })
}

fn has(profile: &StreamProfile, name: &str) -> bool {
    profile.channels.iter().any(|channel| channel.name == name)
}

/// Names the first channels.
fn listed(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMES) {
        Some(others) if others > 0 => format!("{} and {others} more", names[..MOST_NAMES].join(", ")),
        _ => names.join(", "),
    }
}

/// The reason why a stream of a bundle does not support a needed one.
struct Lack {
    /// Number of channels that it does not send.
    missing: usize,
    reason: String,
}

/// Returns the reason why a stream of a bundle does not support a needed one; None if it does.
fn lacks_of(profile: &StreamProfile, stream: &StreamNeeds) -> Option<Lack> {
    let missing: Vec<&String> = stream.channels.iter().filter(|name| !has(profile, name)).collect();
    if let Some(first) = missing.first() {
        return Some(Lack { missing: missing.len(), reason: format!("it does not send {first}") });
    }
    of_quantities(profile, stream).map(|reason| Lack { missing: 0, reason })
}

/// Returns the reason why a stream with the channels of a needed one does not support it; None if it does.
fn of_quantities(profile: &StreamProfile, stream: &StreamNeeds) -> Option<String> {
    let Ok(spec) = spec_of(profile) else {
        return Some("its parameters are damaged".to_owned());
    };
    if profile.compact.is_some() {
        return Some("its windows are those of an earlier version".to_owned());
    }
    let chosen = fits(stream, spec.as_ref(), profile);
    let layout = layout_of(profile, spec.as_ref());
    let holds = layout.is_ok_and(|layout| {
        let plain = spec.as_ref().filter(|_| stream.kind == Kind::Exact).map(|spec| spec.plain as f64);
        plain.is_none_or(|plain| largest_result(&layout, &stream.needs) * 2.0 < MOST_WINDOWS as f64 * plain)
    });
    match chosen {
        Err(reason) => Some(reason),
        Ok(()) if !holds => Some("its plain modulus is too small for the results".to_owned()),
        Ok(()) => None,
    }
}
