//! How the points of one device are read: the fields of its channels.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use sotto_pack::{Channel, DeviceProfile, Reason};

use super::mapping::Mapping;
use super::point::Point;
use super::rows::Cell;
use crate::feed::measured_channels;
use crate::source::{FieldColumn, Value};

/// The tag that Home Assistant's points have, and the fields of its values.
pub(super) const ENTITY: &str = "entity_id";
pub(super) const VALUE: &str = "value";
const STATE: &str = "state";
/// The name that stands for the measurement in conditions.
pub(super) const MEASUREMENT: &str = "measurement";

/// The fields of a device's channels, and the conditions of its points.
pub(crate) struct Target {
    /// Tags and texts that all of its points have; empty if its name tells.
    pub(super) conditions: Vec<(String, String)>,
    pub(super) channels: Arc<[Channel]>,
    columns: Box<[Field]>,
    /// The columns by the name of their field.
    by_field: HashMap<String, Vec<u16>>,
}

/// The field of a channel.
struct Field {
    column: FieldColumn,
    /// Tags and texts of the points that have it; empty if all do.
    about: Vec<(String, String)>,
}

impl Target {
    /// Reads the file beside a bundle and prepares the columns of its channels.
    ///
    /// # Errors
    /// Names the file or the channel, and the reason.
    pub(crate) fn of(bundle: &Path, profile: &DeviceProfile) -> Result<Self> {
        let channels = measured_channels(profile);
        let names: Vec<String> = channels.iter().map(|channel| channel.name.clone()).collect();
        let mapping = Mapping::beside(bundle, &names)?;
        Self::new(channels, &mapping)
    }

    pub(super) fn new(channels: Vec<Channel>, mapping: &Mapping) -> Result<Self> {
        let options = mapping.options();
        let mut columns = Vec::with_capacity(channels.len());
        let mut by_field = HashMap::<String, Vec<u16>>::new();
        for (at, channel) in channels.iter().enumerate() {
            let column = FieldColumn::new(channel, &options)?;
            let (field, about) = column.parts();
            let about = about.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
            by_field.entry(field.to_owned()).or_default().push(at as u16);
            columns.push(Field { column, about });
        }
        let conditions = mapping.conditions.iter().map(|(name, text)| (name.clone(), text.clone())).collect();
        Ok(Self { conditions, channels: channels.into(), columns: columns.into_boxed_slice(), by_field })
    }

    /// Returns the tags and texts by one of which a point may be for the device: one condition of all its points, else one
    /// of each channel. Empty if its name tells.
    pub(super) fn signs(&self) -> Vec<&(String, String)> {
        if let Some(first) = self.conditions.first() {
            return vec![first];
        }
        let of_columns = self.columns.iter().map(|field| field.about.first());
        of_columns.collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Reads the fields of a point that are channels of the device into `cells`. `claimed` has a place for each field, and is
    /// set for those that were read.
    pub(super) fn read(&self, point: &Point<'_>, cells: &mut Vec<Cell>, claimed: &mut [bool]) {
        cells.clear();
        if !self.conditions.iter().all(|pair| holds(point, pair)) {
            return;
        }
        for ((name, value), claimed) in point.fields.iter().zip(claimed) {
            let Some(columns) = self.by_field.get(&**name) else { continue };
            for channel in columns {
                let field = &self.columns[usize::from(*channel)];
                if field.about.iter().all(|pair| holds(point, pair)) {
                    *claimed = true;
                    cells.push((*channel, field.reading(point, value)));
                }
            }
        }
    }

    /// Reads the value of Home Assistant's form for one channel: the field `state` of one with states, else `value`.
    pub(super) fn read_value(
        &self,
        channel: u16,
        point: &Point<'_>,
        cells: &mut Vec<Cell>,
        claimed: &mut [bool],
    ) {
        cells.clear();
        let Some(field) = self.columns.get(usize::from(channel)) else { return };
        let place = |name: &str| point.fields.iter().position(|(field, _)| field == name);
        let state = || place(STATE).filter(|_| field.column.has_states());
        let Some(at) = state().or_else(|| place(VALUE)).or_else(|| place(STATE)) else { return };
        if let Some((_, value)) = point.fields.get(at) {
            claimed[at] = true;
            cells.push((channel, field.reading(point, value)));
        }
    }

    /// Returns its channel if it has one alone.
    pub(super) fn only_channel(&self) -> Option<u16> {
        (self.columns.len() == 1).then_some(0)
    }

    /// Returns the names of its channels, one a line: how the journal states them.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.channels.iter().map(|channel| channel.name.as_str()).collect();
        names.join("\n")
    }
}

impl Field {
    fn reading(&self, point: &Point<'_>, value: &Value<'_>) -> Result<f64, Reason> {
        // Home Assistant's measurements are units.
        let of_unit = point.tag_text(ENTITY).and_then(|_| self.column.of_unit(&point.measurement));
        of_unit.as_ref().unwrap_or(&self.column).reading(value.text())
    }
}

/// Returns true if a point has a tag with a text.
fn holds(point: &Point<'_>, (name, text): &(String, String)) -> bool {
    let measurement = || (name == MEASUREMENT).then_some(&*point.measurement);
    point.tag_text(name).or_else(measurement).is_some_and(|found| found == text)
}
