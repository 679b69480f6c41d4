//! A row of sums, as an engine wrote it.

use std::collections::BTreeMap;

use sotto_sums::SALT_BYTES;
use sotto_wire::TableColumn;

/// A cell of a row of sums.
///
/// Example: [`SummedRow`]
#[derive(Clone, Debug, PartialEq)]
pub enum SumCell {
    /// A text; numbers and times may be texts, as in CSV.
    Text(String),
    /// A whole number; of a time the milliseconds since 1970.
    Whole(i64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// No value.
    Absent,
    /// Something else, in words: a fraction, as a sum is in an engine that adds whole numbers up in floating point.
    Other(String),
}

/// A row of sums: of columns that any engine added up, or with the frame that `sotto_sum` of `sotto-lake` gives.
///
/// ```
/// use sotto_owner::{SumCell, SummedRow};
///
/// let salt = "000102030405060708090a0b".to_owned();
/// let row = SummedRow::read([
///     ("device", SumCell::Text("kitchen".into())),
///     ("stream", SumCell::Text("exact-1h".into())),
///     ("header", SumCell::Text("5a".repeat(32))),
///     ("salt", SumCell::Text(salt)),
///     ("min(number)", SumCell::Whole(0)),
///     ("max(number)", SumCell::Whole(743)),
///     ("count_star()", SumCell::Text("744".into())),
///     ("sum(part0_place0)", SumCell::Whole(81_232)),
///     ("month", SumCell::Whole(1)),
/// ])?;
/// assert!(matches!(row, SummedRow::Columns(row) if row.device == "kitchen" && row.windows == 744));
/// let fraction = [("device", SumCell::Text("kitchen".into())), ("sum(part0_place0)", SumCell::Other("1.5".into()))];
/// assert!(SummedRow::read(fraction).unwrap_err().to_string().contains("BIGINT"));
/// // Frames are bytes, or their hexadecimal digits.
/// let frame = [("device", SumCell::Text("kitchen".into())), ("sum", SumCell::Text("736f747401210001".into()))];
/// assert!(matches!(SummedRow::read(frame)?, SummedRow::Frame(bytes) if bytes.starts_with(b"sott")));
/// # Ok::<(), sotto_owner::SummedRowError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum SummedRow {
    /// Sums of columns.
    Columns(SummedColumns),
    /// The frame of an answer (`sotto_wire::SumsAnswer`), or several, one after the other.
    Frame(Vec<u8>),
}

/// Sums of columns over windows of one start of a device.
///
/// Example: [`SummedRow`]
#[derive(Clone, Debug, PartialEq)]
pub struct SummedColumns {
    /// The device, as the cloud names it.
    pub device: String,
    /// The stream.
    pub stream: String,
    /// The stream's header: its id in hexadecimal.
    pub header: String,
    /// The salt of the start.
    pub salt: [u8; SALT_BYTES],
    /// The smallest and the largest number of a window.
    pub numbers: (u64, u64),
    /// How many windows were added.
    pub windows: u64,
    /// The first and the last start of a window, in milliseconds since 1970, if the row has them.
    pub starts: Option<(i64, i64)>,
    /// The sums.
    pub(super) sums: BTreeMap<TableColumn, i64>,
}

/// The reason why cells are no row of sums.
///
/// Example: [`SummedRow`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummedRowError {
    /// A column is missing.
    #[error("there is no column {name}: {remedy}")]
    Missing {
        /// Its name.
        name: &'static str,
        /// The words to write in the query.
        remedy: &'static str,
    },
    /// There is a second frame.
    #[error("{name} is a second sum in one row: ask for one `sotto_sum` a query")]
    Frames {
        /// The name of its column.
        name: String,
    },
    /// A cell is not of its column's kind.
    #[error("{name} is {found}: {expected}")]
    Cell {
        /// The name of its column.
        name: String,
        /// The cell, in words.
        found: String,
        /// The expected kind of value, or the remedy.
        expected: &'static str,
    },
}

const GROUP: &str = "group by device, stream, header, salt";
const WHOLE: &str =
    "a whole number is expected: cast sums to BIGINT (Int64), as in sum(part0_place0)::BIGINT";

/// The columns beside the sums, with the names that engines give them: of a query without names of its own.
const NAMES: [(&str, &[&str], &str); 9] = [
    ("device", &[], GROUP),
    ("stream", &[], GROUP),
    ("header", &[], GROUP),
    ("salt", &[], GROUP),
    ("first_number", &["min(number)"], "min(number) as first_number"),
    ("last_number", &["max(number)"], "max(number) as last_number"),
    ("windows", &["count_star()", "count(1)", "count(*)", "count()", "count", "len"], "count(*) as windows"),
    ("first_start", &["min(start)"], ""),
    ("last_start", &["max(start)"], ""),
];

/// The bytes that a frame begins with.
const FRAME: &[u8] = b"sott";

impl SummedRow {
    /// Reads the cells of a row: names of columns, in any order, and values. If one is the frame of an answer, the others are left
    /// aside; else they are those of [`SummedColumns`].
    ///
    /// # Errors
    /// [`SummedRowError`]
    pub fn read<'n>(cells: impl IntoIterator<Item = (&'n str, SumCell)>) -> Result<Self, SummedRowError> {
        let cells: Vec<_> = cells.into_iter().collect();
        let frame = |cell: &SumCell| match cell {
            SumCell::Bytes(bytes) => Some(bytes.clone()),
            SumCell::Text(digits) => hex::decode(digits).ok(),
            _ => None,
        };
        let of_cells = cells.iter().filter_map(|(name, cell)| Some((*name, frame(cell)?)));
        let mut frames = of_cells.filter(|(_, bytes)| bytes.starts_with(FRAME));
        match (frames.next(), frames.next()) {
            (None, _) => SummedColumns::of(cells.clone()).map(Self::Columns),
            (Some((_, frame)), None) => Ok(Self::Frame(frame)),
            (Some(_), Some((name, _))) => Err(SummedRowError::Frames { name: name.to_owned() }),
        }
    }
}

impl SummedColumns {
    /// Reads the cells of a row: names of columns, in any order, and values. Sums may be called `sum(part0_place0)` or
    /// `part0_place0`; columns that are none of the sums' are left aside.
    fn of<'n>(cells: impl IntoIterator<Item = (&'n str, SumCell)>) -> Result<Self, SummedRowError> {
        let (mut facts, mut sums) = (BTreeMap::new(), BTreeMap::new());
        for (name, cell) in cells {
            let plain = plain(name);
            if let Some((known, ..)) =
                NAMES.iter().find(|(known, others, _)| *known == plain || others.contains(&plain.as_str()))
            {
                facts.insert(*known, cell);
                continue;
            }
            let of = plain.strip_prefix("sum(").and_then(|name| name.strip_suffix(')')).unwrap_or(&plain);
            if let Ok(column) = of.parse::<TableColumn>()
                && let Some(sum) = whole(name, &cell)?
            {
                sums.insert(column, sum);
            }
        }
        let text = |name| match facts.get(name) {
            Some(SumCell::Text(text)) => Ok(text.clone()),
            Some(cell) => Err(wrong(name, cell, "a text is expected")),
            None => Err(missing(name)),
        };
        let number = |name| {
            let cell = facts.get(name).ok_or_else(|| missing(name))?;
            let number = whole(name, cell)?.and_then(|number| u64::try_from(number).ok());
            number.ok_or_else(|| wrong(name, cell, "a number of windows is expected"))
        };
        let time = |name| facts.get(name).map(|cell| moment(name, cell)).transpose();
        let salt = text("salt")?;
        let bytes = hex::decode(salt.trim_start_matches("0x")).ok().and_then(|bytes| bytes.try_into().ok());
        let expected = "the 24 hexadecimal digits of the export are expected";
        Ok(Self {
            device: text("device")?,
            stream: text("stream")?,
            header: text("header")?,
            salt: bytes.ok_or_else(|| wrong("salt", &SumCell::Text(salt), expected))?,
            numbers: (number("first_number")?, number("last_number")?),
            windows: number("windows")?,
            starts: time("first_start")?.flatten().zip(time("last_start")?.flatten()),
            sums,
        })
    }

    /// Returns the sum of a column; None if the row has none.
    pub(super) fn sum(&self, column: TableColumn) -> Option<i64> {
        self.sums.get(&column).copied()
    }
}

/// Returns a name of a column in small letters, without quotes and spaces.
fn plain(name: &str) -> String {
    let bare = name.chars().filter(|letter| !matches!(letter, '"' | '`' | ' '));
    bare.collect::<String>().to_ascii_lowercase()
}

fn missing(name: &str) -> SummedRowError {
    let found = NAMES.iter().find(|(known, ..)| *known == name);
    let (name, _, remedy) = found.copied().unwrap_or(NAMES[0]);
    SummedRowError::Missing { name, remedy }
}

fn wrong(name: &str, cell: &SumCell, expected: &'static str) -> SummedRowError {
    let found = match cell {
        SumCell::Text(text) => format!("`{}`", text.chars().take(40).collect::<String>()),
        SumCell::Whole(number) => number.to_string(),
        SumCell::Bytes(_) => "bytes".to_owned(),
        SumCell::Absent => "empty".to_owned(),
        SumCell::Other(words) => words.clone(),
    };
    SummedRowError::Cell { name: name.to_owned(), found, expected }
}

/// Returns a whole number; None for an empty cell.
fn whole(name: &str, cell: &SumCell) -> Result<Option<i64>, SummedRowError> {
    match cell {
        SumCell::Whole(number) => Ok(Some(*number)),
        SumCell::Absent => Ok(None),
        // DuckDB writes the word.
        SumCell::Text(text) if matches!(text.trim(), "" | "NULL" | "null") => Ok(None),
        SumCell::Text(text) => text.trim().parse().map(Some).map_err(|_| wrong(name, cell, WHOLE)),
        SumCell::Bytes(_) | SumCell::Other(_) => Err(wrong(name, cell, WHOLE)),
    }
}

/// Returns a moment in milliseconds since 1970; None for an empty cell.
fn moment(name: &str, cell: &SumCell) -> Result<Option<i64>, SummedRowError> {
    let SumCell::Text(text) = cell else { return whole(name, cell) };
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let at = text.parse::<jiff::Timestamp>().or_else(|_| {
        let local = text.parse::<jiff::civil::DateTime>()?;
        Ok::<_, jiff::Error>(local.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp())
    });
    let at = at.map(|at| at.as_millisecond());
    at.or_else(|_| text.parse())
        .map(Some)
        .map_err(|_| wrong(name, cell, "a time such as 2026-01-31 10:00:00+00 is expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_engines_write_them() {
        for (text, expected) in [
            ("2026-01-31T10:15:00Z", 1_769_854_500_000),
            ("2026-01-31 10:15:00+00", 1_769_854_500_000),
            ("2026-01-31 10:15:00.250", 1_769_854_500_250),
            ("2026-01-31T11:15:00.000+01:00", 1_769_854_500_000),
            ("1769854500000", 1_769_854_500_000),
        ] {
            assert_eq!(moment("first_start", &SumCell::Text(text.into())), Ok(Some(expected)), "{text}");
        }
        assert!(moment("first_start", &SumCell::Text("yesterday".into())).is_err());
    }

    #[test]
    fn a_row_that_lacks_a_column_says_what_to_write() {
        let error = SummedRow::read([("device", SumCell::Text("kitchen".into()))]).unwrap_err();
        assert_eq!(error, SummedRowError::Missing { name: "salt", remedy: GROUP });
    }
}
