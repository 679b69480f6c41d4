//! Finds the devices of a point.
//!
//! 1. Devices whose `NAME.toml` has conditions: every device whose conditions hold.
//! 2. Else the device that a tag names (`device`, `host`, `entity_id`, any other), or the measurement; its fields are
//!    channels by their names.
//! 3. In Home Assistant's form (`entity_id`, and the field `value`): the only channel of the device that the entity names,
//!    or `DEVICE_CHANNEL` as the entity's name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::point::Point;
use super::rows::Cell;
use super::target::{ENTITY, MEASUREMENT, Target};
use crate::source::Value;

/// Tags that are looked at first, in this order.
const NAMING: [&str; 3] = ["device", "host", ENTITY];

/// The devices of points, by names and tags. Replaced as a whole when the folder of bundles changes.
#[derive(Default)]
pub(crate) struct Routes {
    targets: Vec<Arc<Target>>,
    /// By tag and text, the devices with such a condition.
    by_sign: HashMap<String, HashMap<String, Vec<u32>>>,
    /// The devices without conditions, by their name.
    by_name: HashMap<String, u32>,
    /// By `DEVICE_CHANNEL`.
    by_entity: HashMap<String, (u32, u16)>,
}

impl Routes {
    /// Creates the routes to devices, whose numbers are their places in the list.
    pub(crate) fn new<'d>(devices: impl IntoIterator<Item = (&'d str, Arc<Target>)>) -> Self {
        let mut routes = Self::default();
        for (number, (name, target)) in devices.into_iter().enumerate() {
            let number = number as u32;
            let signs = target.signs();
            for (tag, text) in &signs {
                let of_tag = routes.by_sign.entry(tag.clone()).or_default();
                let devices = of_tag.entry(text.clone()).or_default();
                if !devices.contains(&number) {
                    devices.push(number);
                }
            }
            if signs.is_empty() {
                routes.by_name.insert(name.to_owned(), number);
                for (channel, declared) in target.channels.iter().enumerate() {
                    let entity = entity_name(&format!("{name}_{}", declared.name));
                    routes.by_entity.insert(entity, (number, channel as u16));
                }
                // An entity's name has no dashes.
                let entity = entity_name(name);
                if entity != name {
                    routes.by_name.entry(entity).or_insert(number);
                }
            }
            routes.targets.push(target);
        }
        routes
    }

    /// Passes on the cells of each device that a point is for. Returns the numbers of fields that are readings of some channel,
    /// and of those that are of none.
    pub(crate) fn route(
        &self,
        point: &Point<'_>,
        scratch: &mut Scratch,
        mut to: impl FnMut(u32, &[Cell]),
    ) -> (u64, u64) {
        let Scratch { cells, claimed, devices: seen } = scratch;
        claimed.clear();
        seen.clear();
        claimed.resize(point.fields.len(), false);
        let mut readings = 0;
        let mut give = |device: u32, cells: &[Cell]| {
            if !cells.is_empty() {
                readings += cells.len() as u64;
                to(device, cells);
            }
        };
        if !self.by_sign.is_empty() {
            let tags = point.tags.iter().map(|(name, text)| (&**name, &**text));
            for (name, text) in tags.chain([(MEASUREMENT, &*point.measurement)]) {
                let devices = self.by_sign.get(name).and_then(|texts| texts.get(text));
                for device in devices.into_iter().flatten() {
                    if seen.contains(device) {
                        continue;
                    }
                    seen.push(*device);
                    self.targets[*device as usize].read(point, cells, claimed);
                    give(*device, cells);
                }
            }
        }
        if !claimed.contains(&true) {
            if let Some(device) = self.named(point) {
                let target = &self.targets[device as usize];
                target.read(point, cells, claimed);
                if let (true, Some(channel)) = (cells.is_empty(), target.only_channel()) {
                    target.read_value(channel, point, cells, claimed);
                }
                give(device, cells);
            } else if let Some((device, channel)) =
                point.tag_text(ENTITY).and_then(|entity| self.by_entity.get(entity))
            {
                self.targets[*device as usize].read_value(*channel, point, cells, claimed);
                give(*device, cells);
            }
        }
        (readings, claimed.iter().filter(|claimed| !**claimed).count() as u64)
    }

    /// Returns the device that a point names.
    fn named(&self, point: &Point<'_>) -> Option<u32> {
        let of = |text: &str| self.by_name.get(text).copied();
        let first = NAMING.iter().find_map(|tag| of(point.tag_text(tag)?));
        let any = || point.tags.iter().find_map(|(_, text)| of(text));
        first.or_else(any).or_else(|| of(&point.measurement))
    }
}

/// Memory that is used again for each point.
#[derive(Default)]
pub(crate) struct Scratch {
    cells: Vec<Cell>,
    /// For each field of the last point, true if a channel takes it.
    claimed: Vec<bool>,
    devices: Vec<u32>,
}

impl Scratch {
    /// Returns the fields of the point that was routed last which no channel takes.
    pub(super) fn unclaimed<'p, 't>(
        &'p self,
        point: &'p Point<'t>,
    ) -> impl Iterator<Item = &'p (Cow<'t, str>, Value<'t>)> {
        let fields = point.fields.iter().zip(&self.claimed);
        fields.filter(|(_, claimed)| !**claimed).map(|(field, _)| field)
    }
}

/// Returns a name as Home Assistant writes it in the name of an entity.
fn entity_name(name: &str) -> String {
    let letter = |letter: char| match letter.is_alphanumeric() {
        true => letter.to_ascii_lowercase(),
        false => '_',
    };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use sotto_pack::{Channel, Reason};

    use super::super::mapping::Mapping;
    use super::*;

    fn target(channels: &[(&str, &str)], toml: &str) -> Arc<Target> {
        let channel = |(name, unit): &(&str, &str)| Channel {
            name: (*name).to_owned(),
            unit: (*unit).to_owned(),
            minimum: -1000.0,
            maximum: 1000.0,
            ..Channel::default()
        };
        let mapping: Mapping = toml::from_str(toml).unwrap();
        Arc::new(Target::new(channels.iter().map(channel).collect(), &mapping).unwrap())
    }

    fn routed(routes: &Routes, point: &Point<'_>) -> (Vec<(u32, Vec<Cell>)>, u64) {
        let (mut found, mut scratch) = (Vec::new(), Scratch::default());
        let (readings, unclaimed) =
            routes.route(point, &mut scratch, |device, cells| found.push((device, cells.to_vec())));
        assert_eq!(readings, found.iter().map(|(_, cells)| cells.len() as u64).sum::<u64>());
        (found, unclaimed)
    }

    #[test]
    fn a_tag_or_the_measurement_names_the_device() {
        let boiler = target(&[("flow", "°C"), ("back", "°C")], "");
        let routes = Routes::new([("boiler", boiler), ("well-pump", target(&[("load", "W")], ""))]);
        let flow = |point: Point<'static>| point.number("flow", "61.5").number("noise", "3");
        let expected = (vec![(0, vec![(0, Ok(61.5))])], 1);
        for point in [
            Point::new("temp").tag("device", "boiler"),
            Point::new("temp").tag("host", "boiler"),
            Point::new("temp").tag("room", "boiler"),
            Point::new("boiler"),
            Point::new("well-pump").tag("device", "boiler"),
        ] {
            assert_eq!(routed(&routes, &flow(point)), expected);
        }
        assert_eq!(routed(&routes, &flow(Point::new("oven"))), (vec![], 2));
        let text = Point::new("boiler").text("back", "broken");
        assert_eq!(routed(&routes, &text).0, [(0, vec![(1, Err(Reason::Text))])]);
    }

    #[test]
    fn home_assistants_entities_are_devices_or_their_channels() {
        let routes = Routes::new([
            ("boiler", target(&[("flow", "°C"), ("back", "°C")], "")),
            ("well-pump", target(&[("load", "W")], "")),
        ]);
        let entity = |unit: &'static str, name: &'static str, value: &'static str| {
            Point::new(unit).tag("domain", "sensor").tag("entity_id", name).number("value", value)
        };
        assert_eq!(routed(&routes, &entity("°C", "boiler_back", "40.5")).0, [(0, vec![(1, Ok(40.5))])]);
        let boiling = routed(&routes, &entity("°F", "boiler_flow", "212")).0[0].1[0];
        assert!(boiling.0 == 0 && boiling.1.is_ok_and(|flow| (flow - 100.0).abs() < 1e-9), "{boiling:?}");
        assert_eq!(routed(&routes, &entity("W", "well_pump", "750")).0, [(1, vec![(0, Ok(750.0))])]);
        assert_eq!(routed(&routes, &entity("kW", "well_pump_load", "0.75")).0, [(1, vec![(0, Ok(750.0))])]);
        assert_eq!(routed(&routes, &entity("W", "oven", "1")), (vec![], 1));
    }

    #[test]
    fn a_file_beside_the_bundle_says_which_points_are_the_devices() {
        let columns = "columns = { flow = \"value[entity_id=kitchen_flow]\", back = \"value[entity_id=kitchen_back]\" }";
        let routes = Routes::new([
            ("boiler", target(&[("flow", ""), ("back", "")], columns)),
            (
                "oven",
                target(
                    &[("flow", "")],
                    "where = { host = \"cellar\", slot = \"2\" }\nscale = { flow = 0.1 }",
                ),
            ),
            ("tank", target(&[("flow", "")], "columns = { flow = \"level\" }")),
        ]);
        let value = |name: &'static str| Point::new("x").tag("entity_id", name).number("value", "7");
        assert_eq!(routed(&routes, &value("kitchen_back")).0, [(0, vec![(1, Ok(7.0))])]);
        assert_eq!(routed(&routes, &value("boiler")), (vec![], 1), "its name tells nothing any more");
        let slot =
            |slot: &'static str| Point::new("x").tag("host", "cellar").tag("slot", slot).number("flow", "7");
        assert_eq!(routed(&routes, &slot("2")).0, [(1, vec![(0, Ok(0.7))])]);
        assert_eq!(routed(&routes, &slot("3")), (vec![], 1));
        assert_eq!(routed(&routes, &Point::new("tank").number("level", "5")).0, [(2, vec![(0, Ok(5.0))])]);
    }
}
