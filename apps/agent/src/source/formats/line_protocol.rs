//! InfluxDB's line protocol: `measurement,tag=value field=1.5,other=3i 1700000000000000000`.
//!
//! Fields and tags are columns, the measurement is the column `measurement`, the time at the end is `time`.

mod line;

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
pub(crate) use line::Line;
#[cfg(feature = "gateway")]
pub(crate) use line::Malformed;
pub use line::Value;

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
                let line = Line::read(&text);
                // A time without a unit is one of nanoseconds: other files have shorter last words.
                return Some(line.is_ok_and(|line| line.time.is_some_and(|time| time.len() > 9)));
            }
        }
        (begin.len() > 4096).then_some(false)
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        Ok(Points::open(input, opening.wanted)?.map(|points| Box::new(points) as Box<dyn Rows>))
    }
}

/// A line that is kept while the next one is read.
struct Held {
    measurement: String,
    /// Fields, then tags.
    pairs: Vec<(String, String)>,
    time: Option<String>,
}

impl Held {
    /// Parses a line; `None` if it is none of the protocol.
    fn read(line: &str) -> Option<Self> {
        let line = Line::read(line).ok()?;
        let of_fields = line.fields.iter().map(|(name, value)| (name.to_string(), value.text().to_owned()));
        let of_tags = line.tags.into_iter().map(|(name, text)| (name.into_owned(), text.into_owned()));
        let pairs = of_fields.chain(of_tags).collect();
        let (measurement, time) = (line.measurement.into_owned(), line.time.map(str::to_owned));
        Some(Self { measurement, pairs, time })
    }

    /// Returns the text of a column: of a field, else of a tag.
    fn text(&self, name: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(other, _)| other == name).map(|(_, text)| &**text);
        pair.or_else(|| (name == MEASUREMENT).then_some(&self.measurement))
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.pairs.iter().map(|(name, _)| name)
    }
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
    held: Option<Held>,
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
    fn read(&mut self) -> Result<Option<Option<Held>>, SourceError> {
        loop {
            let end = self.input.line(0, self.line + 1)?.unwrap_or(self.input.bytes().len());
            if end == 0 {
                return Ok(None);
            }
            self.line += 1;
            let text = decode(&self.input.bytes()[..end]);
            let blank = text.trim().is_empty() || text.starts_with('#');
            let point = if blank { None } else { Held::read(&text) };
            self.input.consume(end);
            if !blank {
                return Ok(Some(point));
            }
        }
    }

    /// Records the columns that occur.
    fn count(&mut self, point: &Held) -> Result<(), SourceError> {
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
