//! The columns of channels: found by name, and how their cells are read.

use std::path::Path;

use sotto_pack::{Channel, Reason};

use super::cells::Cell;
use super::decimals::Decimal;
use super::options::FileOptions;
use super::time_columns::TimeColumns;
use super::units::{self, Conversion};
use crate::source::SourceError;

/// The requested columns.
pub(in crate::source) struct Wanted {
    /// The columns of the time. `None` if rows have no time of their own.
    pub(in crate::source) time: Option<TimeColumns>,
    /// The column of each channel.
    pub(in crate::source) values: Vec<Column>,
    /// Conditions: columns, each with the text that it must hold.
    pub(in crate::source) conditions: Vec<(String, String)>,
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
    /// Texts and numbers that stand for no reading.
    missing: Vec<(String, Option<f64>)>,
    /// Converts numbers to readings.
    conversion: Conversion,
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
            missing: Vec::new(),
            conversion: Conversion { scale: 1.0, offset: 0.0 },
        }
    }
}

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
        let own = Conversion { scale: last(&options.scale, 1.0), offset: last(&options.offset, 0.0) };
        let from_unit =
            options.from_unit.iter().rev().find(|(name, _)| of(name)).map(|(_, unit)| unit.clone());
        let unit = match &from_unit {
            None => Conversion { scale: 1.0, offset: 0.0 },
            Some(from) => units::conversion(from, &channel.unit).ok_or_else(|| SourceError::Option {
                option: "--from-unit",
                reason: format!(
                    "{from} cannot be converted to the unit {:?} of channel {}; give --scale and --offset",
                    channel.unit, channel.name
                ),
            })?,
        };
        let conversion =
            Conversion { scale: own.scale * unit.scale, offset: own.offset * unit.scale + unit.offset };
        Ok(Self {
            requested: column_of(channel, &options.columns).to_owned(),
            channel: channel.name.clone(),
            unit: channel.unit.clone(),
            from_unit,
            minimum: channel.minimum,
            maximum: channel.maximum,
            resolution: channel.resolution,
            missing: missing.map(|(_, text)| (text.trim().to_owned(), number(text))).collect(),
            conversion,
        })
    }

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
        let cell = Cell::read(text);
        let unit = self.from_unit.as_ref().unwrap_or(&self.unit);
        if cell != Cell::Missing(Reason::Text) || unit.is_empty() {
            return cell;
        }
        match unit_of(text) {
            Some(rest) if units::is_same(rest, unit) => Cell::read(&text[..text.len() - rest.len()]),
            _ => cell,
        }
    }

    /// Returns the way out if a cell has another unit of the channel's quantity.
    pub(super) fn hint(&self, text: &str) -> Option<String> {
        let unit = unit_of(text)?.trim();
        units::conversion(unit, &self.unit)?;
        let Self { channel, unit: own, .. } = self;
        Some(format!("; the channel's unit is {own}: pass --from-unit {channel}={unit}"))
    }

    /// Reads a cell of bytes.
    pub(in crate::source) fn read_bytes(&self, bytes: &[u8]) -> Cell {
        self.read(&super::encoding::decode(bytes))
    }

    /// Returns the reading of a cell, or the reason why there is none.
    pub(super) fn reading(&self, cell: Cell, decimal: Decimal) -> Result<f64, Option<Reason>> {
        let number = cell.number(decimal)?;
        if self.missing.iter().any(|(_, missing)| *missing == Some(number)) {
            return Err(Some(Reason::Empty));
        }
        let value = self.converted(number);
        if value.is_finite() { Ok(value) } else { Err(Some(Reason::NotANumber)) }
    }

    fn converted(&self, number: f64) -> f64 {
        let Conversion { scale, offset } = self.conversion;
        if scale == 1.0 && offset == 0.0 { number } else { number * scale + offset }
    }

    /// Returns true if the number is in the channel's range.
    pub(super) fn may_be(&self, number: f64) -> bool {
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

/// Returns the position of a column. Proposes the most similar name that is not among `taken`.
pub(in crate::source) fn position(
    names: &[String],
    wanted: &str,
    taken: &[&str],
    path: &Path,
) -> Result<usize, SourceError> {
    let (path, column) = (path.to_owned(), wanted.trim().to_owned());
    match find(names, wanted) {
        Found::One(position) => Ok(position),
        Found::Several(count) => Err(SourceError::AmbiguousColumn { path, column, count }),
        Found::None => {
            let is_taken =
                |name: &String| taken.iter().any(|taken| taken.trim().eq_ignore_ascii_case(name.trim()));
            let free: Vec<String> = names.iter().filter(|name| !is_taken(name)).cloned().collect();
            let (columns, nearest) = (names.to_vec(), nearest(&free, wanted));
            Err(SourceError::NoColumn { path, column, columns, nearest })
        }
    }
}

/// Positions of a name in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Found {
    /// At one position.
    One(usize),
    /// Nowhere.
    None,
    /// At several positions.
    Several(usize),
}

/// Finds a name, trimmed: the exact match, else a match that ignores case.
pub(in crate::source) fn find(names: &[String], wanted: &str) -> Found {
    let wanted = wanted.trim();
    let lower = wanted.to_lowercase();
    match positions(names, |name| name == wanted) {
        Found::None => positions(names, |name| name.to_lowercase() == lower),
        found => found,
    }
}

fn positions(names: &[String], matches: impl Fn(&str) -> bool) -> Found {
    let mut found = names.iter().enumerate().filter(|(_, name)| matches(name)).map(|(position, _)| position);
    match (found.next(), found.count()) {
        (None, _) => Found::None,
        (Some(position), 0) => Found::One(position),
        (Some(_), more) => Found::Several(more + 1),
    }
}

/// Returns the most similar name: one that contains the wanted name or is contained in it, else the one with the
/// smallest edit distance if that is small.
pub(in crate::source) fn nearest(names: &[String], wanted: &str) -> Option<String> {
    let short = |text: &str| text.trim().to_lowercase().chars().take(64).collect::<String>();
    let wanted = short(wanted);
    let distance = |name: &&String| {
        let name = short(name);
        let holds = |one: &str, other: &str| other.len() > 2 && one.contains(other);
        if holds(&name, &wanted) || holds(&wanted, &name) { 0 } else { changes(&name, &wanted) }
    };
    let name = names.iter().take(1000).min_by_key(distance)?;
    (distance(&name) <= wanted.chars().count().div_ceil(3)).then(|| name.clone())
}

/// Counts the letters to insert, remove or replace (Levenshtein distance).
fn changes(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, against) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *against);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

/// Returns the column of a channel: the one assigned to it, else the one with the channel's name.
pub(in crate::source) fn column_of<'a>(channel: &'a Channel, columns: &'a [(String, String)]) -> &'a str {
    let assigned = columns.iter().find(|(name, _)| *name == channel.name);
    assigned.map_or(&channel.name, |(_, column)| column)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_match_exactly_or_by_case_alone() {
        let there = names(&["Time", "Water flow [l/s]", "x", "X", "y", "y"]);
        assert_eq!(find(&there, " Water flow [l/s] "), Found::One(1));
        assert_eq!(find(&there, "time"), Found::One(0));
        assert_eq!(find(&there, "X"), Found::One(3));
        assert_eq!(find(&there, "y"), Found::Several(2));
        assert_eq!(find(&there, "Y"), Found::Several(2));
        assert_eq!(find(&there, "flow"), Found::None);
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let there = names(&["time", "Water flow [l/s]", "temperature", "humidity"]);
        for (wanted, nearest_name) in [
            ("flow", Some("Water flow [l/s]")),
            ("temprature", Some("temperature")),
            ("Humidty", Some("humidity")),
            ("pressure", None),
            ("", None),
        ] {
            assert_eq!(nearest(&there, wanted).as_deref(), nearest_name, "{wanted}");
        }
        assert_eq!(nearest(&[], "x"), None);
        assert_eq!((changes("kitten", "sitting"), changes("", "abc"), changes("abc", "abc")), (3, 3, 0));
    }
}
