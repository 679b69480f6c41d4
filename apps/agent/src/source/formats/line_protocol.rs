//! InfluxDB's line protocol: `measurement,tag=value field=1.5,other=3i 1700000000000000000`.
//!
//! Fields and tags are columns, the measurement is the column `measurement`, the time at the end is `time`.

use sotto_pack::Reason;

use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::cells::{Cell, Record, Stamp, holds};
use crate::source::files::columns::{Column, Wanted};
use crate::source::files::encoding::decode;
use crate::source::files::facts::Shape;
use crate::source::files::input::{Input, refused};
use crate::source::files::names::position;
use crate::source::files::time_columns::TimeColumns;

/// Each column has to occur within this many rows.
const LOOKED_AT: u64 = 1000;
/// Maximum number of names kept for error messages.
const NAMES: usize = 200;
/// Columns of every line.
const MEASUREMENT: &str = "measurement";
const TIME: &str = "time";

/// Lines of measurements.
pub(super) struct LineProtocol;

impl Format for LineProtocol {
    fn name(&self) -> &'static str {
        "line-protocol"
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        let lines = begin.split(|byte| *byte == b'\n');
        let ended = begin.iter().filter(|byte| **byte == b'\n').count();
        for line in lines.take(ended) {
            let text = decode(line);
            if !text.trim().is_empty() && !text.starts_with('#') {
                let point = Point::read(&text);
                // A time without a unit is one of nanoseconds: other files have shorter last words.
                return Some(point.is_some_and(|point| point.time.is_some_and(|time| time.len() > 9)));
            }
        }
        (begin.len() > 4096).then_some(false)
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        Ok(Points::open(input, opening.wanted)?.map(|points| Box::new(points) as Box<dyn Rows>))
    }
}

/// One line. Names and values have no escapes any more.
#[derive(Debug, PartialEq)]
struct Point {
    measurement: String,
    tags: Vec<(String, String)>,
    fields: Vec<(String, Field)>,
    time: Option<String>,
}

/// The value of a field.
#[derive(Debug, PartialEq)]
enum Field {
    Number(String),
    Text(String),
}

impl Field {
    fn text(&self) -> &str {
        match self {
            Self::Number(text) | Self::Text(text) => text,
        }
    }
}

impl Point {
    /// Parses a line; `None` if it is none of the protocol.
    fn read(line: &str) -> Option<Self> {
        let mut parts = split(line.trim(), ' ');
        let (series, fields, time) = (parts.next()?, parts.next()?, parts.next());
        if parts.next().is_some() || time.is_some_and(|time| time.parse::<i64>().is_err()) {
            return None;
        }
        let mut series = split(series, ',');
        let measurement = plain(series.next().filter(|name| !name.is_empty())?);
        let pair = |text: &str| {
            let mut parts = split(text, '=');
            let pair = (parts.next()?.to_owned(), parts.next()?.to_owned());
            parts.next().is_none().then_some(pair)
        };
        let tag = |text| pair(text).map(|(name, value)| (plain(&name), plain(&value)));
        let field = |text| {
            let (name, value) = pair(text)?;
            let value = match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
                Some(text) => Field::Text(text.replace("\\\"", "\"").replace("\\\\", "\\")),
                None => Field::Number(value.strip_suffix(['i', 'u']).unwrap_or(&value).to_owned()),
            };
            Some((plain(&name), value))
        };
        Some(Self {
            measurement,
            tags: series.map(tag).collect::<Option<_>>()?,
            fields: split(fields, ',').map(field).collect::<Option<_>>()?,
            time: time.map(str::to_owned),
        })
    }

    /// Returns the text of a column.
    fn text(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(field, _)| field == name).map(|(_, field)| field.text());
        let tag = || self.tags.iter().find(|(tag, _)| tag == name).map(|(_, tag)| &**tag);
        field.or_else(tag).or_else(|| (name == MEASUREMENT).then_some(&self.measurement))
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.fields.iter().map(|(name, _)| name).chain(self.tags.iter().map(|(name, _)| name))
    }
}

/// Splits a text at a character that is neither escaped nor between quotes.
fn split(text: &str, at: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |letter| {
        if std::mem::take(&mut escaped) {
            return false;
        }
        match letter {
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ => return letter == at && !quoted,
        }
        false
    })
}

/// Removes the escapes of a name.
fn plain(text: &str) -> String {
    text.replace("\\,", ",").replace("\\=", "=").replace("\\ ", " ")
}

/// The column of a channel, and the tags by which a line is about it.
struct Place {
    name: String,
    about: Vec<(String, String)>,
}

impl Place {
    fn of(column: &Column) -> Self {
        let pair = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        match column.parts() {
            Some((name, about)) => {
                Self { name: name.to_owned(), about: about.into_iter().map(pair).collect() }
            }
            None => Self { name: column.requested.clone(), about: Vec::new() },
        }
    }
}

/// A file of line protocol.
struct Points {
    input: Input,
    line: u64,
    held: Option<Point>,
    values: Vec<Place>,
    names: Vec<String>,
    rows: u64,
    seen: Vec<bool>,
    /// The texts of the channels' fields in the last row.
    last: Vec<String>,
}

impl Points {
    fn open(input: Input, wanted: &Wanted) -> Result<Option<Self>, SourceError> {
        if let Some(TimeColumns::Named(names)) = &wanted.time
            && names.iter().any(|name| name != TIME)
        {
            return Err(refused(
                &input.path,
                "the time of line protocol stands at the end of a line: leave out --time",
            ));
        }
        let values: Vec<Place> = wanted.values.iter().map(Place::of).collect();
        let seen = vec![false; values.len()];
        let (held, names, last) = (None, vec![MEASUREMENT.to_owned()], Vec::new());
        let mut points = Self { input, line: 0, held, values, names, rows: 0, seen, last };
        match points.read()? {
            None => Ok(None),
            Some(None) => {
                let reason = format!("line {} is no line protocol", points.line);
                Err(refused(&points.input.path, reason))
            }
            Some(point) => {
                points.held = point;
                Ok(Some(points))
            }
        }
    }

    /// Reads the next line that is neither empty nor a comment; `None` in its place if it is malformed.
    fn read(&mut self) -> Result<Option<Option<Point>>, SourceError> {
        loop {
            let end = self.input.line(0, self.line + 1)?.unwrap_or(self.input.bytes().len());
            if end == 0 {
                return Ok(None);
            }
            self.line += 1;
            let text = decode(&self.input.bytes()[..end]);
            let blank = text.trim().is_empty() || text.starts_with('#');
            let point = if blank { None } else { Point::read(&text) };
            self.input.consume(end);
            if !blank {
                return Ok(Some(point));
            }
        }
    }

    /// Records the columns that occur.
    fn count(&mut self, point: &Point) -> Result<(), SourceError> {
        if self.rows >= LOOKED_AT {
            return Ok(());
        }
        self.rows += 1;
        for (seen, place) in self.seen.iter_mut().zip(&self.values) {
            *seen |= point.text(&place.name).is_some();
        }
        for name in point.names() {
            if self.names.len() < NAMES && !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
        if self.rows == LOOKED_AT { self.check_seen() } else { Ok(()) }
    }

    /// Refuses a file in which a column has not occurred.
    fn check_seen(&self) -> Result<(), SourceError> {
        let missing = self.seen.iter().position(|seen| !seen).filter(|_| self.rows > 0);
        let Some(missing) = missing else { return Ok(()) };
        let others = self.values.iter().enumerate().filter(|(other, _)| *other != missing);
        let others: Vec<&str> = others.map(|(_, place)| &*place.name).collect();
        position(&self.names, &self.values[missing].name, &others, &self.input.path).map(|_| ())
    }
}

impl Rows for Points {
    fn next(&mut self, wanted: &Wanted, record: &mut Record) -> Result<bool, SourceError> {
        loop {
            let point = match self.held.take() {
                Some(point) => Some(point),
                None => match self.read()? {
                    Some(point) => point,
                    None => return self.check_seen().map(|()| false),
                },
            };
            record.line = self.line;
            record.cells.clear();
            let Some(point) = point else {
                record.time = Stamp::None;
                record.cells.resize(wanted.values.len(), Cell::Missing(Reason::Text));
                return Ok(true);
            };
            self.count(&point)?;
            let holds = |(name, text): &(String, String)| holds(point.text(name).unwrap_or_default(), text);
            if !wanted.conditions.iter().all(holds) {
                continue;
            }
            // A line has some fields of its series: the others are not missing.
            let cell = |(place, column): (&Place, &Column)| match point.text(&place.name) {
                Some(text) if place.about.iter().all(holds) => column.read(text),
                _ => Cell::Absent,
            };
            record.cells.extend(self.values.iter().zip(&wanted.values).map(cell));
            if record.cells.iter().all(|cell| *cell == Cell::Absent) {
                continue;
            }
            self.last = self
                .values
                .iter()
                .map(|place| point.text(&place.name).unwrap_or_default().to_owned())
                .collect();
            record.time = point.time.as_deref().map_or(Stamp::None, |time| wanted.stamp(time));
            return Ok(true);
        }
    }

    fn cell_text(&self, channel: usize) -> Option<String> {
        self.last.get(channel).cloned()
    }

    fn is_replaced(&self) -> bool {
        self.input.is_replaced()
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn shape(&self) -> Shape {
        let (packing, encoding) = (self.input.packing(), self.input.encoding());
        Shape { time: vec![TIME.to_owned()], packing, encoding, ..Shape::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_where_nothing_is_escaped_or_quoted() {
        let point = Point::read(
            r#"my\ room,loc=a\,b,x\=y=z t=1.5,n=3i,s="a, \"b\" c=d",ok=true 1700000000000000000"#,
        );
        let point = point.unwrap();
        assert_eq!(
            (&*point.measurement, point.text("loc"), point.text("x=y")),
            ("my room", Some("a,b"), Some("z"))
        );
        assert_eq!(
            (point.text("t"), point.text("n"), point.text("ok")),
            (Some("1.5"), Some("3"), Some("true"))
        );
        assert_eq!(point.text("s"), Some("a, \"b\" c=d"));
        assert_eq!(
            (point.text("measurement"), point.time.as_deref()),
            (Some("my room"), Some("1700000000000000000"))
        );
        for line in ["", "a", "a b", "a t=1 x", "a t=1 1 2", ",a=b t=1", "2024-01-01 00:00,1"] {
            assert_eq!(Point::read(line), None, "{line}");
        }
    }
}
