//! JSON: one object per line, or an array of objects. Names of nested members are joined with dots, as in
//! `air.temperature` or `sensors.0.value`.

mod member;
mod objects;

use serde_json::{Map, Value};
use sotto_pack::Reason;

use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::cells::{Cell, Record, Stamp, holds};
use crate::source::files::columns::{Column, Wanted};
use crate::source::files::facts::Shape;
use crate::source::files::input::Input;
use crate::source::files::names::position;
use crate::source::files::numbers::Mark;
use crate::source::files::time_columns::TimeColumns;
use member::{as_text, member, name_members};
use objects::{Layout, Objects};

pub(super) const LINES: &str = "json-lines";
pub(super) const ARRAY: &str = "json";
/// Blank bytes at the beginning of a file after which no object is expected.
const LONGEST_BLANK: usize = 4096;
/// Each column has to occur within this many rows.
const LOOKED_AT: u64 = 1000;

/// One JSON object per line.
pub(super) struct JsonLines;

/// An array of JSON objects, or objects one after another over several lines.
pub(super) struct JsonArray;

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        LINES
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        match begin.iter().find(|byte| !byte.is_ascii_whitespace()) {
            // An object of several lines: its first line is the brace alone.
            Some(b'{') => {
                let mut rest = begin.trim_ascii_start()[1..].iter();
                rest.find(|byte| !b" \t\r".contains(byte)).map(|next| *next != b'\n')
            }
            None if begin.len() < LONGEST_BLANK => None,
            _ => Some(false),
        }
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        open(input, Layout::Lines, opening.wanted)
    }
}

impl Format for JsonArray {
    fn name(&self) -> &'static str {
        ARRAY
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        let mut bytes = begin.iter().filter(|byte| !byte.is_ascii_whitespace());
        match (bytes.next(), bytes.next()) {
            (Some(b'{'), _) | (Some(b'['), Some(b'{' | b']')) => Some(true),
            (Some(b'['), None) | (None, _) if begin.len() < LONGEST_BLANK => None,
            _ => Some(false),
        }
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        open(input, Layout::Values, opening.wanted)
    }
}

fn open(input: Input, layout: Layout, wanted: &Wanted) -> Result<Option<Box<dyn Rows>>, SourceError> {
    Ok(Members::open(Objects::new(input, layout), wanted)?.map(|members| Box::new(members) as Box<dyn Rows>))
}

/// The member of a channel, and the members by which an object is about it.
struct Place {
    name: String,
    about: Vec<(String, String)>,
}

impl Place {
    fn of(column: &Column, first: &Map<String, Value>) -> Self {
        let whole = || Self { name: column.requested.clone(), about: Vec::new() };
        if member(first, &column.requested).is_some() {
            return whole();
        }
        column.parts().map_or_else(whole, |(name, about)| {
            let pair = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
            Self { name: name.to_owned(), about: about.iter().map(pair).collect() }
        })
    }
}

/// A file of JSON objects.
struct Members {
    objects: Objects,
    /// Names of the members that hold the time.
    time: Vec<String>,
    values: Vec<Place>,
    /// The member of each channel and condition, and true once it has occurred.
    seen: Vec<(String, bool)>,
    /// Names of members, for error messages.
    names: Vec<String>,
    rows: u64,
    held: Option<Map<String, Value>>,
    /// The texts of the channels' members in the last row that had text.
    texts: Vec<String>,
}

impl Members {
    /// Reads the first object. Returns `None` if the file has none.
    fn open(mut objects: Objects, wanted: &Wanted) -> Result<Option<Self>, SourceError> {
        let Some(first) = objects.first()? else { return Ok(None) };
        let values: Vec<Place> = wanted.values.iter().map(|column| Place::of(column, &first)).collect();
        let mut names = Vec::new();
        name_members(&first, "", &mut names);
        let path = &objects.input.path;
        let time = match &wanted.time {
            None => Vec::new(),
            Some(TimeColumns::Named(names)) => names.clone(),
            Some(guessed) => {
                guessed.find(&names, path)?.0.iter().map(|place| names[*place].clone()).collect()
            }
        };
        let about = values.iter().flat_map(|place| &place.about).map(|(name, _)| name);
        let conditions = wanted.conditions.iter().map(|(name, _)| name);
        let all = values.iter().map(|place| &place.name).chain(about).chain(conditions).chain(&time);
        let seen = all.map(|name| (name.clone(), false)).collect();
        Ok(Some(Self { objects, time, values, seen, names, rows: 0, held: Some(first), texts: Vec::new() }))
    }

    /// Records the members that occur in a row.
    fn count(&mut self, object: &Map<String, Value>) -> Result<(), SourceError> {
        if self.rows >= LOOKED_AT {
            return Ok(());
        }
        self.rows += 1;
        for (name, seen) in self.seen.iter_mut().filter(|(_, seen)| !seen) {
            *seen = member(object, name).is_some();
        }
        if self.seen.iter().any(|(_, seen)| !seen) {
            name_members(object, "", &mut self.names);
        }
        if self.rows == LOOKED_AT { self.check_seen() } else { Ok(()) }
    }

    /// Refuses a file in which a member has not occurred.
    fn check_seen(&self) -> Result<(), SourceError> {
        match self.seen.iter().find(|(_, seen)| !seen) {
            // The name may match several members if case is ignored: report that.
            Some((name, _)) if self.rows > 0 => {
                let of_others: Vec<&str> =
                    self.values.iter().map(|place| &*place.name).filter(|other| other != name).collect();
                position(&self.names, name, &of_others, &self.objects.input.path).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    fn fill(&mut self, cells: &mut Vec<Cell>, object: &Map<String, Value>, wanted: &Wanted) {
        cells.clear();
        let meets = |(name, text): &(String, String)| holds(&as_text(member(object, name)), text);
        for (place, column) in self.values.iter().zip(&wanted.values) {
            let is_about = place.about.iter().all(meets);
            cells.push(if is_about { cell(member(object, &place.name), column) } else { Cell::Absent });
        }
        if cells.contains(&Cell::Missing(Reason::Text)) {
            self.texts = self.values.iter().map(|place| as_text(member(object, &place.name))).collect();
        }
    }
}

impl Rows for Members {
    fn next(&mut self, wanted: &Wanted, record: &mut Record) -> Result<bool, SourceError> {
        loop {
            let object = match self.held.take() {
                Some(object) => Some(object),
                None => match self.objects.next()? {
                    Some(object) => object,
                    None => return self.check_seen().map(|()| false),
                },
            };
            record.line = self.objects.line;
            let Some(object) = object else {
                record.time = Stamp::None;
                record.cells.clear();
                record.cells.resize(wanted.values.len(), Cell::Missing(Reason::Text));
                return Ok(true);
            };
            self.count(&object)?;
            let meets = |(name, text): &(String, String)| holds(&as_text(member(&object, name)), text);
            if wanted.conditions.iter().all(meets) {
                record.time = match &self.time[..] {
                    [name] => match member(&object, name) {
                        Some(Value::String(text)) => wanted.stamp_of_bytes(text.as_bytes()),
                        other => wanted.stamp(&as_text(other)),
                    },
                    names => wanted.stamp_of(names.iter().map(|name| as_text(member(&object, name)))),
                };
                self.fill(&mut record.cells, &object, wanted);
                let cells = &record.cells;
                if cells.is_empty() || cells.iter().any(|cell| *cell != Cell::Absent) {
                    return Ok(true);
                }
            }
        }
    }

    fn cell_text(&self, channel: usize) -> Option<String> {
        self.texts.get(channel).cloned()
    }

    fn is_replaced(&self) -> bool {
        self.objects.input.is_replaced()
    }

    /// Returns the names of the members that occurred first.
    fn names(&self) -> &[String] {
        &self.names
    }

    fn shape(&self) -> Shape {
        let input = &self.objects.input;
        Shape {
            time: self.time.clone(),
            packing: input.packing(),
            encoding: input.encoding(),
            ..Shape::default()
        }
    }
}

fn cell(value: Option<&Value>, column: &Column) -> Cell {
    match value {
        None | Some(Value::Null) => Cell::default(),
        Some(Value::Number(number)) => match number.as_f64().filter(|number| number.is_finite()) {
            Some(number) => Cell::Number(number, Mark::Plain),
            None => Cell::Missing(Reason::NotANumber),
        },
        Some(Value::String(text)) => column.read(text),
        Some(Value::Bool(value)) => column.read(&value.to_string()),
        Some(_) => Cell::Missing(Reason::Text),
    }
}
