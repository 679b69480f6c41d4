//! JSON lines: one object per line. Names of nested members are joined with dots, as in `air.temperature`.

use serde_json::{Map, Value};
use sotto_pack::Reason;
use zeroize::Zeroizing;

use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::cells::{Cell, Mark, Record, holds, joined, time_text};
use crate::source::files::columns::{TimeColumns, Wanted, position};
use crate::source::files::encoding::decode;
use crate::source::files::input::{Input, refused};

pub(super) const NAME: &str = "json-lines";
/// Blank bytes at the beginning of a file after which no object is expected.
const LONGEST_BLANK: usize = 4096;

/// Each column has to occur within this many rows.
const LOOKED_AT: u64 = 1000;
/// Maximum number of names kept for error messages.
const NAMES: usize = 200;

/// One JSON object per line.
pub(super) struct JsonLines;

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        NAME
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        let mut bytes = begin.iter().filter(|byte| !byte.is_ascii_whitespace());
        match (bytes.next(), bytes.next()) {
            // An array of objects is refused later, with the way out.
            (Some(b'{'), _) | (Some(b'['), Some(b'{')) => Some(true),
            (Some(b'['), None) | (None, _) if begin.len() < LONGEST_BLANK => None,
            _ => Some(false),
        }
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        Ok(Lines::open(input, opening.wanted)?.map(|lines| Box::new(lines) as Box<dyn Rows>))
    }
}

/// A file of JSON lines.
struct Lines {
    input: Input,
    /// Names of the members that hold the time.
    time: Vec<String>,
    /// The column of each channel and condition, and true once it has occurred.
    seen: Vec<(String, bool)>,
    /// Names of members, for error messages.
    names: Vec<String>,
    rows: u64,
    line: u64,
    held: Option<Map<String, Value>>,
}

impl Lines {
    /// Reads the first object. Returns `None` if the file has no line.
    fn open(input: Input, wanted: &Wanted) -> Result<Option<Self>, SourceError> {
        let conditions = wanted.conditions.iter().map(|(name, _)| name);
        let seen = wanted.values.iter().chain(conditions).map(|name| (name.clone(), false)).collect();
        let mut lines =
            Self { input, time: Vec::new(), seen, names: Vec::new(), rows: 0, line: 0, held: None };
        let Some(bytes) = lines.read()? else { return Ok(None) };
        let Some(object) = lines.object(&bytes, wanted)? else {
            let array = bytes.trim_ascii().first() == Some(&b'[');
            let way_out = if array { "; turn the array into lines with: jq -c '.[]'" } else { "" };
            let reason = format!("line {} holds no JSON object{way_out}", lines.line);
            return Err(refused(&lines.input.path, reason));
        };
        name_members(&object, "", &mut lines.names);
        lines.time = match &wanted.time {
            Some(TimeColumns::Named(names)) => names.clone(),
            _ => {
                let positions = wanted.time(&lines.names, &lines.input.path)?;
                positions.into_iter().map(|position| lines.names[position].clone()).collect()
            }
        };
        if let Some(TimeColumns::Named(names)) = &wanted.time {
            lines.seen.extend(names.iter().map(|name| (name.clone(), false)));
        }
        lines.held = Some(object);
        Ok(Some(lines))
    }

    /// Records the columns that occur in a row.
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

    /// Refuses a file in which a column has not occurred.
    fn check_seen(&self) -> Result<(), SourceError> {
        match self.seen.iter().find(|(_, seen)| !seen) {
            // The name may match several members if case is ignored: report that.
            Some((name, _)) if self.rows > 0 => position(&self.names, name, &self.input.path).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Reads the next line that is not empty.
    fn read(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError> {
        loop {
            let ended = self.input.line(self.line + 1, false)?;
            let end = ended.unwrap_or(self.input.bytes().len());
            if end == 0 {
                return Ok(None);
            }
            self.line += 1;
            let bytes = Zeroizing::new(self.input.bytes()[..end].to_vec());
            self.input.consume(end);
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(bytes));
            }
        }
    }

    /// Parses a line as an object; `None` if the line holds none.
    fn object(&self, bytes: &[u8], wanted: &Wanted) -> Result<Option<Map<String, Value>>, SourceError> {
        let not_utf8 = || SourceError::NotUtf8 { path: self.input.path.clone(), line: self.line };
        let text = decode(bytes, wanted.encoding).ok_or_else(not_utf8)?;
        Ok(match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        })
    }
}

impl Rows for Lines {
    fn next(&mut self, wanted: &Wanted) -> Result<Option<Record>, SourceError> {
        loop {
            let object = match self.held.take() {
                Some(object) => Some(object),
                None => match self.read()? {
                    Some(bytes) => self.object(&bytes, wanted)?,
                    None => return self.check_seen().map(|()| None),
                },
            };
            let Some(object) = object else {
                let cells = Zeroizing::new(vec![Cell::Missing(Reason::Text); wanted.values.len()]);
                return Ok(Some(Record { line: self.line, time: None, cells }));
            };
            self.count(&object)?;
            let meets = |(name, text): &(String, String)| holds(&as_text(member(&object, name)), text);
            if wanted.conditions.iter().all(meets) {
                let time = joined(self.time.iter().map(|name| time_text(&as_text(member(&object, name)))));
                let cells = wanted.values.iter().map(|name| cell(member(&object, name))).collect();
                return Ok(Some(Record { line: self.line, time, cells: Zeroizing::new(cells) }));
            }
        }
    }

    fn is_replaced(&self) -> bool {
        self.input.is_replaced()
    }

    /// Returns the names of the members that occurred first.
    fn names(&self) -> &[String] {
        &self.names
    }
}

/// Returns a member by its name, or by the names of nested members joined with dots.
fn member<'o>(object: &'o Map<String, Value>, name: &str) -> Option<&'o Value> {
    let name = name.trim();
    if let Some(value) = child(object, name) {
        return Some(value);
    }
    name.match_indices('.').find_map(|(dot, _)| match child(object, &name[..dot]) {
        Some(Value::Object(inner)) => member(inner, &name[dot + 1..]),
        _ => None,
    })
}

/// Returns a direct member: by its exact name, else ignoring case if only one matches.
fn child<'o>(object: &'o Map<String, Value>, name: &str) -> Option<&'o Value> {
    object.get(name).or_else(|| {
        let lower = name.to_lowercase();
        let mut alike = object.iter().filter(|(key, _)| key.trim().to_lowercase() == lower);
        alike.next().filter(|_| alike.next().is_none()).map(|(_, value)| value)
    })
}

/// Adds the names of all members; nested names are joined with dots.
fn name_members(object: &Map<String, Value>, before: &str, names: &mut Vec<String>) {
    for (key, value) in object {
        if names.len() >= NAMES || before.len() + key.len() > 256 {
            return;
        }
        match value {
            Value::Object(inner) => name_members(inner, &format!("{before}{key}."), names),
            _ => {
                let name = format!("{before}{key}");
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
}

fn cell(value: Option<&Value>) -> Cell {
    match value {
        None | Some(Value::Null) => Cell::default(),
        Some(Value::Number(number)) => match number.as_f64().filter(|number| number.is_finite()) {
            Some(number) => Cell::Number(number, Mark::Plain),
            None => Cell::Missing(Reason::NotANumber),
        },
        Some(Value::String(text)) => Cell::read(text),
        Some(_) => Cell::Missing(Reason::Text),
    }
}

/// Converts a value to the text of a cell.
fn as_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
