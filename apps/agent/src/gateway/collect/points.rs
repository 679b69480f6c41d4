//! Reports to points.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sotto_preset::{Reading, Report, Value as Stated};

use crate::gateway::Value;
use crate::gateway::point::Point;
use crate::source::now;

/// The tags that name a device. A point with `entity_id` has its unit in the place of the measurement, as Home Assistant
/// writes it: readings are converted to the unit of their channel.
const DEVICE: &str = "device";
const ENTITY: &str = "entity_id";

/// Returns the points of a report: one for each unit. A report without a time is of now.
pub(super) fn points(report: Report, topic: &str) -> Vec<Point<'static>> {
    let Report { device, tags, at, readings } = report;
    let at = at.unwrap_or_else(now);
    let mut by_unit: BTreeMap<Option<String>, Vec<(String, Stated)>> = BTreeMap::new();
    for Reading { channel, value, unit, .. } in readings {
        by_unit.entry(unit).or_default().push((channel, value));
    }
    let point = |(unit, fields): (Option<String>, Vec<(String, Stated)>)| {
        let mut point =
            Point::new(unit.clone().unwrap_or_else(|| topic.to_owned())).tag(DEVICE, device.clone());
        if unit.is_some() {
            point = point.tag(ENTITY, device.clone());
        }
        for (name, text) in &tags {
            point = point.tag(name.clone(), text.clone());
        }
        for (channel, value) in fields {
            let value = match value {
                Stated::Number(text) => Value::Number(Cow::Owned(text)),
                Stated::Text(text) => Value::Text(Cow::Owned(text)),
            };
            point.fields.push((Cow::Owned(channel), value));
        }
        point.time = Some(at.saturating_mul(1_000_000));
        point
    };
    by_unit.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use sotto_preset::{Decoded, Decoder, Preset};

    use super::*;

    #[test]
    fn a_report_has_one_point_for_each_unit() {
        let mut decoder = Decoder::new(Preset::named("zigbee2mqtt").unwrap(), jiff::tz::TimeZone::UTC);
        let message = br#"{"temperature":21.5,"device_temperature":30,"contact":true,"humidity":40,"last_seen":1772362800000}"#;
        let Decoded::Reports(mut reports) = decoder.decode("zigbee2mqtt/kitchen", message, false) else {
            panic!()
        };
        let points = points(reports.remove(0), "zigbee2mqtt/kitchen");
        let names: Vec<&str> = points.iter().map(|point| &*point.measurement).collect();
        assert_eq!(names, ["zigbee2mqtt/kitchen", "%", "°C"]);
        assert!(points.iter().all(|point| point.tag_text(DEVICE) == Some("kitchen")));
        assert_eq!(points[0].tag_text(ENTITY), None, "its measurement is no unit");
        assert_eq!(points[2].fields.len(), 2);
        assert!(points.iter().all(|point| point.time == Some(1_772_362_800_000_000_000)));
    }
}
