//! Reports: facts about a plant and its cloud as JSON, for programs in other languages.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::streams::measured_report;
use crate::{answers, devices};

/// Makes a report of a plant, from an argument if it takes one.
type Report = fn(&Plant, Option<&str>) -> Result<String, OwnerError>;

const REPORTS: [(&str, Report); 3] = [
    // The declared channels, questions and devices.
    ("declared", |plant, _| {
        let settings = plant.settings();
        text(&json!({
            "channels": settings.channels,
            "questions": settings.questions,
            "devices": settings.devices,
        }))
    }),
    // Each device's streams for a question, or for all declared ones.
    ("plan", |plant, question| {
        let reports = devices::planned_streams(plant, question)?
            .into_iter()
            .map(|(name, streams)| (name, streams.iter().map(measured_report).collect::<Vec<_>>()));
        text(&reports.collect::<BTreeMap<_, _>>())
    }),
    // The readings of every device that arrived, and those that are missing.
    ("status", |plant, _| text(&answers::status(plant)?)),
];

/// Returns a report as JSON.
pub(crate) fn report(plant: &Plant, name: &str, argument: Option<&str>) -> Result<String, OwnerError> {
    let of_name = REPORTS.iter().find(|(other, _)| *other == name);
    let unknown = || OwnerError::NotDeclared { kind: "report", name: name.to_owned() };
    of_name.ok_or_else(unknown)?.1(plant, argument)
}

fn text(document: &impl Serialize) -> Result<String, OwnerError> {
    serde_json::to_string(document).map_err(|error| OwnerError::WrongAnswer(error.to_string()))
}

#[cfg(test)]
mod tests {
    use crate::declared::NewPlant;

    use super::*;

    #[test]
    fn a_report_is_json_and_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let listen = "127.0.0.1:7410".parse().unwrap();
        let here = NewPlant { cloud: None, listen, time_zone: Some("Europe/Rome".into()) };
        let plant = Plant::init(&folder.path().join("dairy"), &here).unwrap();
        let declared: serde_json::Value =
            serde_json::from_str(&plant.report("declared", None).unwrap()).unwrap();
        assert!(declared["channels"].is_object() && declared["devices"].is_object());
        let refused = plant.report("weather", None).unwrap_err();
        assert!(refused.to_string().contains("report weather"), "{refused}");
    }
}
