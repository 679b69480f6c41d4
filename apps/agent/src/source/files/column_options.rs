//! The column of a channel, as the options state it.

use sotto_pack::{Channel, ChannelKind};

use super::cells::Cell;
use super::columns::Column;
use super::conversion::Conversion;
use super::options::FileOptions;
use super::units;
use crate::source::SourceError;

impl Column {
    /// Creates the column of a channel.
    pub(super) fn new(channel: &Channel, options: &FileOptions) -> Result<Self, SourceError> {
        let of = |name: &Option<String>| name.as_ref().is_none_or(|name| *name == channel.name);
        let number = |text: &str| match Cell::read(text) {
            Cell::Number(number, _) => Some(number),
            _ => None,
        };
        let missing = options.missing.iter().filter(|(name, _)| of(name));
        let last = |values: &[(Option<String>, f64)], usual| {
            values.iter().rev().find(|(name, _)| of(name)).map_or(usual, |(_, value)| *value)
        };
        let own = Conversion::new(last(&options.scale, 1.0), last(&options.offset, 0.0));
        let from_unit =
            options.from_unit.iter().rev().find(|(name, _)| of(name)).map(|(_, unit)| unit.clone());
        let unit = match &from_unit {
            None => Conversion::NONE,
            Some(from) => units::conversion(from, &channel.unit).ok_or_else(|| SourceError::Option {
                option: "--from-unit",
                reason: format!(
                    "{from} cannot be converted to the unit {:?} of channel {}; give --scale and --offset",
                    channel.unit, channel.name
                ),
            })?,
        };
        let conversion = own.then(&unit);
        Ok(Self {
            requested: column_of(channel, &options.columns).to_owned(),
            channel: channel.name.clone(),
            unit: channel.unit.clone(),
            from_unit,
            minimum: channel.minimum,
            maximum: channel.maximum,
            resolution: channel.resolution,
            states: match &channel.kind {
                ChannelKind::State(state) => Some(state.clone()),
                _ => None,
            },
            missing: missing.map(|(_, text)| (text.trim().to_owned(), number(text))).collect(),
            conversion,
        })
    }
}

/// Returns the column of a channel: the one assigned to it, else the one with the channel's name.
pub(in crate::source) fn column_of<'a>(channel: &'a Channel, columns: &'a [(String, String)]) -> &'a str {
    let assigned = columns.iter().find(|(name, _)| *name == channel.name);
    assigned.map_or(&channel.name, |(_, column)| column)
}
