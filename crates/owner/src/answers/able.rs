//! The devices that can answer a question, and the reasons why none can.

use std::collections::BTreeMap;

use sotto_pack::StreamProfile;

use crate::declared::Plant;
use crate::devices::{self, DeviceRecord};
use crate::error::OwnerError;
use crate::functions::Call;
use crate::language::{OfDevice, Scope};
use crate::question::{ExactScheme, Question};
use crate::streams::Kind;

/// Returns true if a bundle of the device sends the stream that a call needs, under the scheme that the question states.
fn sends(plant: &Plant, record: &DeviceRecord, question: &Question, call: &Call) -> bool {
    let (settings, shown) = (plant.settings(), plant.shown_device(&record.device));
    let kind = Kind::of(&call.needs());
    let scheme = question.scheme.filter(|_| kind == Kind::Exact);
    let streams = || {
        record.bundles.iter().flat_map(|bundle| &bundle.streams).filter(|stream| {
            let stated = |scheme: ExactScheme| {
                devices::spec_of(stream).is_ok_and(|spec| spec.is_some_and(|spec| spec.scheme == scheme.id()))
            };
            Kind::of_profile(stream) == Some(kind) && scheme.is_none_or(stated)
        })
    };
    let has = |stream: &StreamProfile, name: &str| {
        stream.channels.iter().any(|channel| settings.shown_channel(&channel.name) == name)
    };
    let channels = call.channels();
    let of_devices = call.two_devices();
    if !of_devices.is_empty() {
        let own = |of: &&OfDevice| of.device == shown;
        return of_devices.into_iter().filter(own).any(|of| streams().any(|stream| has(stream, &of.channel)));
    }
    if call.is_of_readings() {
        // Readings of several streams meet here.
        return channels.iter().all(|name| streams().any(|stream| has(stream, name)));
    }
    streams().any(|stream| channels.iter().all(|name| has(stream, name)))
}

fn unsent(question: &Question, call: &Call, device: &str) -> String {
    match question.scheme.filter(|_| Kind::of(&call.needs()) == Kind::Exact) {
        Some(scheme) => format!(
            "{call}: no device sends its readings under {scheme}, which the question states (scheme = \"{}\"). Declare it so with `sotto question add NAME '…' --scheme {}`, and give a device a new bundle with `sotto device renew {device}`; or ask without a scheme",
            scheme.word(),
            scheme.word()
        ),
        None => format!(
            "{call}: no device sends the stream that it needs. Declare the question with `sotto question add NAME '…'`, and give a device a new bundle with `sotto device renew {device}`"
        ),
    }
}

/// Returns true if a device sends the stream that a call needs, and its readings count in it.
fn answers(
    plant: &Plant,
    (name, record): (&String, &DeviceRecord),
    question: &Question,
    call: (&Call, Option<&Scope>),
) -> bool {
    let settings = plant.settings();
    settings.takes(question, call, settings.member(name)) && sends(plant, record, question, call.0)
}

/// Refuses a question with a call that no device can answer.
pub(super) fn can_answer(
    plant: &Plant,
    question: &Question,
    devices: &BTreeMap<String, DeviceRecord>,
) -> Result<(), OwnerError> {
    for (call, of) in question.calls_of() {
        if !devices.iter().any(|device| answers(plant, device, question, (call, of))) {
            let device = match of {
                Some(Scope::Device(name)) => Some(name),
                _ => devices.keys().next(),
            };
            let device = device.map_or("NAME", String::as_str);
            return Err(OwnerError::Unanswerable(unsent(question, call, device)));
        }
    }
    Ok(())
}

/// Returns the devices that send a channel of the question.
pub(super) fn devices_of(
    plant: &Plant,
    question: &Question,
) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
    let mut devices = devices::with_removed(plant)?;
    let scopes = question.calls_of().filter_map(|(_, of)| match of {
        Some(Scope::Device(name)) => Some(name),
        _ => None,
    });
    let mut named = question.only.iter().flatten().chain(scopes);
    if let Some(device) = named.find(|name| !devices.contains_key(*name)) {
        return Err(OwnerError::NotEnrolled(format!(
            "device {device} is not enrolled yet: enrol it with `sotto device add {device}`"
        )));
    }
    devices.retain(|name, record| {
        question.calls_of().any(|call| answers(plant, (name, record), question, call))
    });
    if devices.is_empty() {
        return Err(nobody_sends(plant, question)?);
    }
    Ok(devices)
}

/// Explains why no device answers a question: none measures its channels, or none sends the required stream.
fn nobody_sends(plant: &Plant, question: &Question) -> Result<OwnerError, OwnerError> {
    let channels = question.channels();
    let enrolled = devices::enrolled(plant)?;
    let measures = |(name, _): &(&String, &DeviceRecord)| {
        let device = plant.settings().devices.get(*name);
        device.is_some_and(|device| device.channels.iter().any(|channel| channels.contains(channel)))
    };
    let Some((device, _)) = enrolled.iter().find(measures) else {
        let channels: Vec<String> = channels.into_iter().collect();
        return Ok(OwnerError::NotEnrolled(format!(
            "no device was enrolled that measures {}: add one with `sotto device add NAME --channels {}`",
            channels.join(" or "),
            channels.join(",")
        )));
    };
    let unsent = question.calls().next().map(|call| unsent(question, call, device));
    Ok(OwnerError::Unanswerable(unsent.unwrap_or_default()))
}
