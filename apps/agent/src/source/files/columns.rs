//! The columns of channels: found by name, and how their cells are read.

use sotto_pack::{Channel, Reason, State};

use super::cells::{Cell, Stamp, time_text};
use super::conversion::Conversion;
use super::decimal::Decimal;
use super::encoding::decode;
use super::numbers::{self, Mark};
use super::states;
use super::time_columns::{TimeColumns, joined};
use super::times::TimeFormat;
use super::units;
use crate::source::SourceError;

/// The requested columns.
#[derive(Clone, Default)]
pub(in crate::source) struct Wanted {
    /// The columns of the time. `None` if rows have no time of their own.
    pub(in crate::source) time: Option<TimeColumns>,
    /// The format of the times, once it is known.
    pub(super) form: Option<TimeFormat>,
    /// The column of each channel.
    pub(in crate::source) values: Vec<Column>,
    /// Conditions: columns, each with the text that it must hold.
    pub(in crate::source) conditions: Vec<(String, String)>,
}

impl Wanted {
    /// Returns the time that a text states.
    pub(in crate::source) fn stamp(&self, text: &str) -> Stamp {
        match (time_text(text), &self.form) {
            (None, _) => Stamp::None,
            (Some(text), Some(form)) => form.read(text).map_or(Stamp::None, Stamp::At),
            (Some(text), None) => Stamp::Text(text.to_owned()),
        }
    }

    /// Returns the time that bytes state.
    pub(in crate::source) fn stamp_of_bytes(&self, bytes: &[u8]) -> Stamp {
        match self.form.as_ref().and_then(|form| form.read_usual(bytes)) {
            Some(local) => Stamp::At(local),
            None => self.stamp(&decode(bytes)),
        }
    }

    /// Returns the time that the texts of several columns state together.
    pub(in crate::source) fn stamp_of<T: AsRef<str>>(&self, parts: impl IntoIterator<Item = T>) -> Stamp {
        joined(parts).map_or(Stamp::None, |text| self.stamp(&text))
    }
}

/// The column of a channel.
#[derive(Clone, Debug)]
pub(in crate::source) struct Column {
    /// The column as it was requested: `state[entity_id=sensor.hum]`, or a name alone.
    pub(in crate::source) requested: String,
    /// The name of the channel.
    pub(in crate::source) channel: String,
    /// The unit of the channel.
    pub(in crate::source) unit: String,
    /// The unit of the cells, if it is not the channel's.
    pub(in crate::source) from_unit: Option<String>,
    /// The channel's range.
    pub(in crate::source) minimum: f64,
    pub(in crate::source) maximum: f64,
    pub(in crate::source) resolution: Option<f64>,
    /// The states of the channel, if it has some.
    pub(in crate::source) states: Option<State>,
    /// Texts and numbers that stand for no reading.
    pub(super) missing: Vec<(String, Option<f64>)>,
    /// Converts numbers to readings.
    pub(super) conversion: Conversion,
}

impl Default for Column {
    fn default() -> Self {
        Self {
            requested: String::new(),
            channel: String::new(),
            unit: String::new(),
            from_unit: None,
            minimum: f64::NEG_INFINITY,
            maximum: f64::INFINITY,
            resolution: None,
            states: None,
            missing: Vec::new(),
            conversion: Conversion::NONE,
        }
    }
}

impl Column {
    /// Reads a cell. The unit of the column may follow the number.
    pub(in crate::source) fn read(&self, text: &str) -> Cell {
        let mut text = text.trim();
        // Quotes that do not match belong to no reading.
        if text.starts_with('"') || text.ends_with('"') {
            text = text.trim_matches('"').trim();
        }
        if self.missing.iter().any(|(missing, _)| missing == text) {
            return Cell::Missing(Reason::Empty);
        }
        if let Some(states) = &self.states {
            return states::read(text, states);
        }
        let cell = Cell::read(text);
        // A contact, declared as a number.
        if cell == Cell::Missing(Reason::Text)
            && (self.minimum, self.maximum) == (0.0, 1.0)
            && let Some(number) = states::of_two(text)
        {
            return Cell::Number(number as f64, Mark::Plain);
        }
        let unit = self.from_unit.as_ref().unwrap_or(&self.unit);
        if cell != Cell::Missing(Reason::Text) || unit.is_empty() {
            return cell;
        }
        match unit_of(text) {
            Some(rest) if units::is_same(rest, unit) => Cell::read(&text[..text.len() - rest.len()]),
            _ => cell,
        }
    }

    /// Returns the way out if a cell has another unit of the channel's quantity, or is none of its states.
    pub(super) fn hint(&self, text: &str) -> Option<String> {
        if let Some(State { states, .. }) = &self.states {
            return Some(format!("; its states are {}", states.join(", ")));
        }
        let unit = unit_of(text)?.trim();
        units::conversion(unit, &self.unit)?;
        let Self { channel, unit: own, .. } = self;
        Some(format!("; the channel's unit is {own}: pass --from-unit {channel}={unit}"))
    }

    /// Reads a cell of bytes.
    pub(in crate::source) fn read_bytes(&self, bytes: &[u8]) -> Cell {
        // Most cells are a number and nothing else.
        if self.missing.is_empty()
            && self.states.is_none()
            && let Some((number, mark)) = numbers::short(bytes)
        {
            return Cell::Number(number, mark);
        }
        self.read(&decode(bytes))
    }

    /// Returns the reading of a cell, or the reason why there is none.
    pub(super) fn reading(&self, cell: Cell, decimal: Decimal) -> Result<f64, Option<Reason>> {
        let number = cell.number(decimal)?;
        if self.missing.iter().any(|(_, missing)| *missing == Some(number)) {
            return Err(Some(Reason::Empty));
        }
        let value = self.converted(number);
        if self.states.as_ref().is_some_and(|states| !states::is_number(value, states)) {
            return Err(Some(Reason::Text));
        }
        if value.is_finite() { Ok(value) } else { Err(Some(Reason::NotANumber)) }
    }

    /// Returns true if the text, or its number, stands for no reading. `text` is called if any does.
    #[cfg(feature = "tables")]
    pub(in crate::source) fn is_missing<'t>(&self, text: impl FnOnce() -> std::borrow::Cow<'t, str>) -> bool {
        !self.missing.is_empty() && {
            let text = text();
            self.missing.iter().any(|(missing, _)| *missing == text)
        }
    }

    /// Returns the factor from numbers to readings.
    #[cfg(feature = "tables")]
    pub(in crate::source) fn scale(&self) -> f64 {
        self.conversion.scale
    }

    fn converted(&self, number: f64) -> f64 {
        self.conversion.of(number)
    }

    /// Returns true if the number is in the channel's range.
    pub(in crate::source) fn may_be(&self, number: f64) -> bool {
        (self.minimum..=self.maximum).contains(&self.converted(number))
    }

    /// Returns true if the channel counts in whole numbers or larger steps, and the number lies between two of them.
    pub(super) fn is_finer_than_step(&self, number: f64) -> bool {
        self.resolution.is_some_and(|step| {
            let steps = self.converted(number) / step;
            step >= 1.0 && (steps - steps.round()).abs() > 1e-6
        })
    }

    /// Returns the name and the conditions of `state[entity_id=sensor.hum]`; `None` if it has no condition.
    pub(in crate::source) fn parts(&self) -> Option<(&str, Vec<(&str, &str)>)> {
        let (name, rest) = self.requested.split_once('[')?;
        let inner = rest.trim_end().strip_suffix(']')?;
        let conditions = inner.split("][").map(|pair| pair.split_once('=')).collect::<Option<Vec<_>>>()?;
        Some((name, conditions))
    }
}

/// Returns the text behind the last digit of a cell; `None` if there is none.
fn unit_of(text: &str) -> Option<&str> {
    let end = text.rfind(|letter: char| letter.is_ascii_digit())? + 1;
    let rest = text[end..].trim_start_matches(['.', ',']);
    (!rest.trim().is_empty()).then_some(rest)
}

/// Refuses columns assigned to channels that no stream has.
pub(in crate::source) fn check_channels(
    channels: &[Channel],
    columns: &[(String, String)],
) -> Result<(), SourceError> {
    let wanted = |name: &String| channels.iter().any(|channel| channel.name == *name);
    let names: Vec<String> =
        columns.iter().map(|(name, _)| name).filter(|name| !wanted(name)).cloned().collect();
    if names.is_empty() {
        return Ok(());
    }
    let there = channels.iter().map(|channel| channel.name.clone()).collect();
    Err(SourceError::UnknownChannels { names, there })
}
