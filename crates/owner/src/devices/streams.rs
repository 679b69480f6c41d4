//! The streams that devices send.

use std::collections::BTreeMap;

use sotto_pack::MAX_STREAMS;

use crate::declared::Plant;
use crate::declared::settings::DeviceSettings;
use crate::error::OwnerError;
use crate::question::Question;
use crate::streams::Chosen;
use crate::{declared, streams};

/// Returns the streams that a device with these settings would send for the declared questions.
pub(crate) fn streams_for(
    plant: &Plant,
    device: &str,
    settings: &DeviceSettings,
) -> Result<Vec<Chosen>, OwnerError> {
    let questions = declared::with_alarms(plant)?;
    let streams = streams::of_device(plant.settings(), &questions, device, settings);
    chosen(plant, &streams)
}

/// Returns the streams that a device with these settings would send for one question.
pub(crate) fn streams_for_question(
    plant: &Plant,
    device: &str,
    settings: &DeviceSettings,
    question: &Question,
) -> Result<Vec<Chosen>, OwnerError> {
    let questions = BTreeMap::from([(question.to_string(), question.clone())]);
    let mut streams = streams::of_device(plant.settings(), &questions, device, settings);
    streams.retain(|stream| !stream.questions.is_empty());
    chosen(plant, &streams)
}

/// Returns the streams of each declared device for all declared questions; of a device with all channels if none is
/// declared, and none without a channel.
pub(crate) fn streams_of_devices(plant: &Plant) -> Result<Vec<(String, Vec<Chosen>)>, OwnerError> {
    let streams = |(name, settings): (String, DeviceSettings)| {
        let streams = streams_for(plant, &name, &settings)?;
        Ok((name, streams))
    };
    declared_devices(plant).into_iter().map(streams).collect()
}

/// Returns the declared devices, or one with all channels if none is declared; none without a channel.
pub(super) fn declared_devices(plant: &Plant) -> Vec<(String, DeviceSettings)> {
    let declared = plant.settings().devices.iter();
    let mut devices: Vec<(String, DeviceSettings)> =
        declared.map(|(name, device)| (name.clone(), device.clone())).collect();
    if devices.is_empty() && !plant.settings().channels.is_empty() {
        let channels: Vec<String> = plant.settings().channels.keys().cloned().collect();
        let settings = DeviceSettings { channels, public: false, tags: Vec::new(), wire: None };
        devices.push(("a device with all channels".to_owned(), settings));
    }
    devices
}

/// Returns the streams of each declared device for one question (None: for all declared ones), compared with their
/// alternatives. If no device is declared, those of a device with all channels.
pub(crate) fn planned_streams(
    plant: &Plant,
    question: Option<&str>,
) -> Result<BTreeMap<String, Vec<Chosen>>, OwnerError> {
    let question = question.map(|text| declared::planned_question(plant, text)).transpose()?;
    let devices = declared_devices(plant);
    if devices.is_empty() {
        return Err(no_channel());
    }
    let streams = |(name, settings): (String, DeviceSettings)| {
        let streams = match &question {
            Some(question) => streams_for_question(plant, &name, &settings, question)?,
            None => streams_for(plant, &name, &settings)?,
        };
        Ok((name, streams.into_iter().map(Chosen::compared).collect()))
    };
    devices.into_iter().map(streams).collect()
}

/// The refusal of a plan without a channel.
pub(super) fn no_channel() -> OwnerError {
    OwnerError::Unanswerable("no channel is declared yet: sotto channel add NAME …".to_owned())
}

/// Refuses more streams than a bundle has.
pub(super) fn check_number(streams: usize) -> Result<(), OwnerError> {
    if streams > MAX_STREAMS {
        return Err(OwnerError::NoParameters(format!(
            "a device would send {streams} streams, and a bundle has at most {MAX_STREAMS}: declare its channels for several devices"
        )));
    }
    Ok(())
}

fn chosen(plant: &Plant, streams: &[streams::StreamNeeds]) -> Result<Vec<Chosen>, OwnerError> {
    check_number(streams.len())?;
    let choose = |stream: &streams::StreamNeeds| {
        let channels: Vec<_> =
            stream.channels.iter().filter_map(|name| plant.settings().channel(name)).collect();
        streams::choose(stream, &channels)
    };
    streams.iter().map(choose).collect()
}
