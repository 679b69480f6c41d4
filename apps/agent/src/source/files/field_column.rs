//! The column of a channel, for readings that come in messages: read as those of files are.

use sotto_pack::{Channel, Reason};

use super::columns::Column;
use super::decimal::Decimal;
use super::options::FileOptions;
use super::units;
use crate::source::SourceError;

/// How a field of a message becomes a reading of a channel.
pub(crate) struct FieldColumn(Column);

impl FieldColumn {
    /// Creates the column of a channel, with the scale, the unit and the missing texts of the options.
    ///
    /// # Errors
    /// [`SourceError::Option`] for a unit that cannot be converted to the channel's.
    pub(crate) fn new(channel: &Channel, options: &FileOptions) -> Result<Self, SourceError> {
        Column::new(channel, options).map(Self)
    }

    /// Returns the name of the field, and the tags by which a point is about the channel.
    pub(crate) fn parts(&self) -> (&str, Vec<(&str, &str)>) {
        self.0.parts().unwrap_or((&self.0.requested, Vec::new()))
    }

    /// Returns true if the channel has states.
    pub(crate) fn has_states(&self) -> bool {
        self.0.states.is_some()
    }

    /// Returns a reading, or the reason why there is none.
    pub(crate) fn reading(&self, text: &str) -> Result<f64, Reason> {
        let cell = self.0.read_bytes(text.as_bytes());
        self.0.reading(cell, Decimal::Point).map_err(|reason| reason.unwrap_or(Reason::Text))
    }

    /// Returns a column that reads numbers of another unit; `None` if the unit is the column's own, or is not convertible.
    pub(crate) fn of_unit(&self, unit: &str) -> Option<Self> {
        let Column { unit: own, from_unit, .. } = &self.0;
        if from_unit.is_some() || units::is_same(unit, own) {
            return None;
        }
        let conversion = self.0.conversion.then(&units::conversion(unit, own)?);
        Some(Self(Column { from_unit: Some(unit.to_owned()), conversion, ..self.0.clone() }))
    }
}
