//! Columns of whole numbers by which engines that know nothing of sotto add windows of sums: one for each place, and two for
//! each tag.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use sotto_pack::WindowDescription;
use sotto_sums::{Answer, Form, Place, Tag};

use super::part_refused;
use crate::error::WireError;
use crate::stream::StreamHeader;

/// TableBits of a low half: the sum of 2^32 numbers of so many bits fits a signed integer of 64.
const LOW_BITS: u32 = 31;

/// The bits that a column has of its numbers.
///
/// Example: [`TableColumn`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableBits {
    /// All: a place has 31 at most then.
    All,
    /// The low 31.
    Low,
    /// Those above.
    High,
}

/// A column of a table of windows of sums, or of their sums.
///
/// ```
/// use sotto_wire::{TableBits, TableColumn};
///
/// let column = TableColumn::Place { part: 0, place: 12, bits: TableBits::All };
/// assert_eq!(column.to_string(), "part0_place12");
/// assert_eq!("part2_tag_high".parse(), Ok(TableColumn::Tag { part: 2, bits: TableBits::High }));
/// assert!("part0_place".parse::<TableColumn>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableColumn {
    /// The numbers at a place.
    Place {
        /// The part of the stream.
        part: u8,
        /// The place, in the order of the part's form.
        place: u32,
        /// Low and high for places of more than 31 bits.
        bits: TableBits,
    },
    /// The tags of a part.
    Tag {
        /// The part of the stream.
        part: u8,
        /// Low or high.
        bits: TableBits,
    },
}

/// A name that no column of sums has.
///
/// Example: [`TableColumn`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAColumn;

impl TableColumn {
    /// Returns the part of the stream.
    #[must_use]
    pub fn part(&self) -> u8 {
        match self {
            Self::Place { part, .. } | Self::Tag { part, .. } => *part,
        }
    }

    fn halves(of: impl Fn(TableBits) -> Self) -> [Self; 2] {
        [of(TableBits::Low), of(TableBits::High)]
    }

    fn of_place(part: u8, place: u32, width: u32) -> Vec<Self> {
        let of = |bits| Self::Place { part, place, bits };
        if width <= LOW_BITS { vec![of(TableBits::All)] } else { Self::halves(of).to_vec() }
    }

    fn of_tag(part: u8) -> [Self; 2] {
        Self::halves(|bits| Self::Tag { part, bits })
    }
}

impl fmt::Display for TableBits {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::All => "",
            Self::Low => "_low",
            Self::High => "_high",
        })
    }
}

impl fmt::Display for TableColumn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place { part, place, bits } => write!(out, "part{part}_place{place}{bits}"),
            Self::Tag { part, bits } => write!(out, "part{part}_tag{bits}"),
        }
    }
}

impl FromStr for TableColumn {
    type Err = NotAColumn;

    fn from_str(name: &str) -> Result<Self, NotAColumn> {
        let (part, rest) =
            name.strip_prefix("part").and_then(|name| name.split_once('_')).ok_or(NotAColumn)?;
        let part = part.parse().map_err(|_| NotAColumn)?;
        let (of, bits) = [(TableBits::Low, "_low"), (TableBits::High, "_high")]
            .iter()
            .find_map(|(bits, ending)| Some((rest.strip_suffix(ending)?, *bits)))
            .unwrap_or((rest, TableBits::All));
        let column = match of.strip_prefix("place") {
            Some(place) => Self::Place { part, place: place.parse().map_err(|_| NotAColumn)?, bits },
            None if of == "tag" && bits != TableBits::All => Self::Tag { part, bits },
            None => return Err(NotAColumn),
        };
        // Each column has one name.
        let mut own = String::new();
        let is_own = fmt::write(&mut own, format_args!("{column}")).is_ok() && own == name;
        if is_own { Ok(column) } else { Err(NotAColumn) }
    }
}

impl fmt::Display for NotAColumn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("it is no column of sums, such as part0_place3 or part0_tag_low")
    }
}

impl core::error::Error for NotAColumn {}

/// The parts of a stream with their forms.
fn forms(stream: &StreamHeader) -> impl Iterator<Item = Result<(u8, Form<'_>), WireError>> {
    (0_u8..).zip(stream.parts()).map(|(part, _)| Ok((part, stream.sums_form(part.into())?)))
}

impl StreamHeader {
    /// Returns the columns of a table of the windows of a stream of sums, in order: for each part the places of its longest
    /// window, then its tag.
    ///
    /// # Errors
    /// [`WireError`] if it is no stream of sums.
    pub fn table_columns(&self) -> Result<Vec<TableColumn>, WireError> {
        let mut columns = Vec::new();
        for form in forms(self) {
            let (part, form) = form?;
            for (place, of) in (0..).zip(form.each_place(self.layout().ticks())) {
                columns.extend(TableColumn::of_place(part, place, of.width()));
            }
            columns.extend(TableColumn::of_tag(part));
        }
        Ok(columns)
    }
}

/// Returns the numbers of a window in the [columns](StreamHeader::table_columns) of its stream. `parts` are its parts, each as
/// a sum of one window. Shorter windows have no number at the places that they lack.
#[must_use]
pub fn table_row(stream: &StreamHeader, parts: &[Answer<'_>]) -> Vec<Option<i64>> {
    let mut row = Vec::new();
    for part in parts {
        let (mut columns, ticks) = (part.columns().iter(), stream.layout().ticks());
        for place in part.form().each_place(ticks) {
            let number = columns.next().map(|number| number.cast_signed());
            if place.width() <= LOW_BITS {
                row.push(number);
            } else {
                row.extend([
                    number.map(|number| number & ((1 << LOW_BITS) - 1)),
                    number.map(|number| number >> LOW_BITS),
                ]);
            }
        }
        let (low, high) = part.tag().halves();
        row.extend([Some(low.cast_signed()), Some(high.cast_signed())]);
    }
    row
}

/// Returns the sum of a part that an engine added up in a table's columns. `number` gives the sum of a column: None if all of
/// its numbers were absent. The windows tell their counts: a table has none.
///
/// # Errors
/// [`WireError::Value`] if a sum is negative, as in an integer that overflowed; [`WireError`] if the windows are not of this
/// stream.
pub fn table_sum<'s, 'w>(
    stream: &'s StreamHeader,
    part: u8,
    windows: impl IntoIterator<Item = &'w WindowDescription>,
    number: impl Fn(TableColumn) -> Option<i64>,
) -> Result<Answer<'s>, WireError> {
    let form = stream.sums_form(part.into())?;
    let described =
        stream.parts().get(usize::from(part)).ok_or(WireError::Value("a stream has no such part"))?;
    let (mut ticks, mut counts) = (0, vec![0_i64; form.counts(0)]);
    for window in windows {
        ticks = ticks.max(window.sent_ticks());
        let of_window = described.counts(window);
        counts.resize(counts.len().max(of_window.len()), 0);
        counts.iter_mut().zip(of_window).for_each(|(sum, count)| *sum = sum.saturating_add(count.into()));
    }
    let sum = |column| {
        let sum = number(column).unwrap_or_default();
        u64::try_from(sum).map_err(|_| WireError::Value("a sum is negative: its integer was too small"))
    };
    let of_place = |(place, of): (u32, &Place)| {
        let sums = TableColumn::of_place(part, place, of.width()).into_iter().map(sum);
        let joined = |below: u64, (at, sum): (u32, Result<u64, WireError>)| {
            Ok::<u64, WireError>(below.wrapping_add(sum?.wrapping_shl(LOW_BITS * at)))
        };
        (0..).zip(sums).try_fold(0, joined)
    };
    let columns = (0..).zip(form.each_place(ticks)).map(of_place).collect::<Result<Vec<_>, WireError>>()?;
    let [low, high] = TableColumn::of_tag(part).map(sum);
    Answer::of_columns(&form, ticks, columns, counts, Tag::from_halves(low?, high?)).map_err(part_refused)
}
