//! Plans with wishes: the streams of every device, and the questions that are impossible then.

use std::collections::{BTreeMap, BTreeSet};

use super::streams::{check_number, declared_devices, no_channel};
use crate::declared::settings::DeviceSettings;
use crate::declared::{self, Plant};
use crate::error::OwnerError;
use crate::question::Question;
use crate::streams::{self, Chosen, StreamNeeds, Wishes};

/// A plan with wishes.
///
/// Example: [`Plant::planned_with`]
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// The streams of each declared device, compared with their alternatives; those of a device with all channels if none is
    /// declared.
    pub streams: BTreeMap<String, Vec<Chosen>>,
    /// The questions that are impossible, each with the reason; alarms are named `alarm NAME`. The streams are those of the
    /// others.
    pub impossible: BTreeMap<String, String>,
    /// The streams that serve no question and cannot be sent.
    pub unsent: Vec<Unsent>,
}

/// A stream that no question needs, and that a device could not send.
///
/// Example: [`Plant::planned_with`]
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Unsent {
    /// The device.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// The names of its channels.
    pub channels: Vec<String>,
    /// The reason.
    pub why: String,
}

/// A stream that serves questions, and that a device could not send.
struct Failed<'d> {
    device: &'d (String, DeviceSettings),
    questions: Vec<String>,
    why: String,
}

/// Returns the streams of each declared device for one question (None: for all declared ones and alarms), with some wishes.
pub(crate) fn planned_with(
    plant: &Plant,
    question: Option<&str>,
    wishes: Wishes,
) -> Result<Planned, OwnerError> {
    let devices = declared_devices(plant);
    if devices.is_empty() {
        return Err(no_channel());
    }
    let (mut questions, mut impossible) = readable(plant, question);
    loop {
        let mut planned = Planned::default();
        let mut failed = Vec::new();
        for device in &devices {
            let needs = needs(plant, device, &questions, wishes, question.is_some())?;
            let mut own = Vec::with_capacity(needs.len());
            for stream in needs {
                match choose(plant, &stream, wishes) {
                    Ok(chosen) => own.push(chosen),
                    Err(error) if stream.questions.is_empty() => planned.unsent.push(Unsent {
                        device: device.0.clone(),
                        stream: stream.name(),
                        channels: stream.channels,
                        why: error.to_string(),
                    }),
                    Err(error) => {
                        failed.push(Failed { device, questions: stream.questions, why: error.to_string() });
                    }
                }
            }
            planned.streams.insert(device.0.clone(), own);
        }
        if failed.is_empty() {
            for streams in planned.streams.values_mut() {
                *streams = std::mem::take(streams).into_iter().map(Chosen::compared).collect();
            }
            return Ok(Planned { impossible, ..planned });
        }
        for stream in &failed {
            impossible.extend(culprits(plant, stream, &questions, wishes));
        }
        questions.retain(|name, _| !impossible.contains_key(name));
    }
}

/// Returns the questions that can be read, and the others with the reason.
fn readable(plant: &Plant, one: Option<&str>) -> (BTreeMap<String, Question>, BTreeMap<String, String>) {
    let (mut questions, mut impossible) = (BTreeMap::new(), BTreeMap::new());
    let declared: BTreeSet<&str> = plant.settings().questions.keys().map(String::as_str).collect();
    for name in one.map_or(declared, |text| BTreeSet::from([text.trim()])) {
        match declared::planned_question(plant, name) {
            Ok(question) => drop(questions.insert(name.to_owned(), question)),
            Err(error) => drop(impossible.insert(name.to_owned(), error.to_string())),
        }
    }
    for name in plant.settings().alarms.keys().filter(|_| one.is_none()) {
        match declared::alarm(plant, name) {
            Ok(alarm) => questions.extend(alarm.streams().map(|of| (declared::named_alarm(name), of))),
            Err(error) => drop(impossible.insert(declared::named_alarm(name), error.to_string())),
        }
    }
    (questions, impossible)
}

/// Returns the streams that a device needs for some questions.
fn needs(
    plant: &Plant,
    (name, settings): &(String, DeviceSettings),
    questions: &BTreeMap<String, Question>,
    wishes: Wishes,
    is_of_question: bool,
) -> Result<Vec<StreamNeeds>, OwnerError> {
    let mut needs = streams::of_device_with(plant.settings(), questions, (name, settings), wishes);
    needs.retain(|stream| !is_of_question || !stream.questions.is_empty());
    check_number(needs.len())?;
    Ok(needs)
}

fn choose(plant: &Plant, stream: &StreamNeeds, wishes: Wishes) -> Result<Chosen, OwnerError> {
    let channels: Vec<_> = stream.channels.iter().filter_map(|name| plant.settings().channel(name)).collect();
    streams::choose_with(stream, &channels, wishes)
}

/// Returns the questions for which a stream cannot be sent: those that fail alone or, if each does alone, all of them.
fn culprits(
    plant: &Plant,
    failed: &Failed<'_>,
    questions: &BTreeMap<String, Question>,
    wishes: Wishes,
) -> Vec<(String, String)> {
    let alone = |name: &String| -> Option<(String, String)> {
        let of_one = BTreeMap::from([(name.clone(), questions.get(name)?.clone())]);
        let needs = needs(plant, failed.device, &of_one, wishes, true).ok()?;
        let error = needs.iter().find_map(|stream| choose(plant, stream, wishes).err())?;
        Some((name.clone(), error.to_string()))
    };
    if let [only] = failed.questions.as_slice() {
        return vec![(only.clone(), failed.why.clone())];
    }
    let found: Vec<_> = failed.questions.iter().filter_map(alone).collect();
    if !found.is_empty() {
        return found;
    }
    let together = format!("in one stream, {}: {}", failed.questions.join(", "), failed.why);
    failed.questions.iter().map(|name| (name.clone(), together.clone())).collect()
}
