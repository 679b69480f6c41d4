//! Quantities that the windows of a stream of sums hold.

use alloc::vec::Vec;

use super::codec::{read_count, write_count};
use super::column::SumsColumn;
use crate::error::WireError;
use crate::reader::Reader;

/// Largest number of edges of bins: k edges make k + 1 bins.
const MOST_EDGES: usize = 1023;

/// A quantity that a device computes of its readings q (whole numbers of steps; columns are numbered from 0).
///
/// ```
/// use sotto_wire::Quantity;
///
/// // Readings and squares stand at each tick, counts by bin and extremes once in a window.
/// assert!(!Quantity::Reading(0).is_once() && !Quantity::Product(0, 1).is_once());
/// let bins = Quantity::Bins { column: 0, edges: vec![-100, 0, 100] };
/// assert!(bins.is_once() && Quantity::Largest(0).is_once());
/// assert_eq!((bins.places(), Quantity::Square(0).places()), (4, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The reading of a column at each tick.
    Reading(u16),
    /// Its square.
    Square(u16),
    /// The product of the readings of two columns at each tick, the lower number first.
    Product(u16, u16),
    /// The numbers of a window's readings by bin.
    Bins {
        /// The column.
        column: u16,
        /// The first number of each bin but the lowest, ascending; k edges make k + 1 bins.
        edges: Vec<i64>,
    },
    /// The least reading of a window. Such values do not add: they are opened window by window.
    Least(u16),
    /// The largest reading of a window.
    Largest(u16),
}

/// The share of a value that a place holds. A quantity of more than 60 bits travels as two places.
///
/// ```
/// use sotto_wire::Digit;
///
/// let value = -(1_i128 << 40) + 5;
/// assert_eq!((Digit::Low.of(value), Digit::High.of(value)), (5, -(1 << 10)));
/// assert_eq!(Digit::Whole.of(7), 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digit {
    /// The whole value.
    Whole,
    /// The value modulo 2^30, from 0.
    Low,
    /// The value divided by 2^30, rounded down.
    High,
}

impl Digit {
    /// Returns the share of a value: `value = low + 2^30 · high`.
    #[must_use]
    pub const fn of(self, value: i128) -> i128 {
        match self {
            Self::Whole => value,
            Self::Low => value & ((1 << 30) - 1),
            Self::High => value >> 30,
        }
    }

    /// Returns the least and the largest share of values in a range.
    fn range(self, (least, most): (i128, i128)) -> (i128, i128) {
        match self {
            Self::Low => (0, (1 << 30) - 1),
            _ => (self.of(least), self.of(most)),
        }
    }

    pub(super) fn number(self) -> u8 {
        match self {
            Self::Whole => 0,
            Self::Low => 1,
            Self::High => 2,
        }
    }

    pub(super) fn from_number(number: u8) -> Result<Self, WireError> {
        match number {
            0 => Ok(Self::Whole),
            1 => Ok(Self::Low),
            2 => Ok(Self::High),
            _ => Err(WireError::Value("a place holds a whole value, 0, its low 30 bits, 1, or the rest, 2")),
        }
    }
}

impl Quantity {
    /// Returns true if a window has this quantity once, and false if it has it at each tick.
    #[must_use]
    pub fn is_once(&self) -> bool {
        matches!(self, Self::Bins { .. } | Self::Least(_) | Self::Largest(_))
    }

    /// Returns the number of its places: in a window, or at a tick.
    #[must_use]
    pub fn places(&self) -> usize {
        match self {
            Self::Bins { edges, .. } => edges.len() + 1,
            _ => 1,
        }
    }

    /// Returns the columns that it is computed of: one, or the two of a product.
    #[must_use]
    pub fn columns(&self) -> (u16, u16) {
        match self {
            Self::Product(x, y) => (*x, *y),
            Self::Reading(x) | Self::Square(x) | Self::Least(x) | Self::Largest(x) => (*x, *x),
            Self::Bins { column, .. } => (*column, *column),
        }
    }

    /// Returns the range of the values at a place.
    pub(super) fn range(
        &self,
        digit: Digit,
        columns: &[SumsColumn],
        ticks: u32,
    ) -> Result<(i64, i64), WireError> {
        let unknown = WireError::Value("a quantity names a column that the stream does not have");
        let (x, y) = self.columns();
        let (Some(x), Some(y)) = (columns.get(usize::from(x)), columns.get(usize::from(y))) else {
            return Err(unknown);
        };
        let corners = || {
            let of = |column: &SumsColumn| [i128::from(column.least), i128::from(column.most)];
            let products = of(x).into_iter().flat_map(move |a| of(y).map(|b| a * b));
            products.fold((0, 0), |(least, most), product| (product.min(least), product.max(most)))
        };
        let range = match self {
            Self::Reading(_) | Self::Least(_) | Self::Largest(_) => (x.least.into(), x.most.into()),
            Self::Square(_) => (0, corners().1),
            Self::Product(..) => corners(),
            Self::Bins { .. } => (0, ticks.into()),
        };
        let (least, most) = digit.range(range);
        match (i64::try_from(least), i64::try_from(most)) {
            (Ok(least), Ok(most)) => Ok((least, most)),
            _ => Err(WireError::Value("a place has at most 60 bits: split the quantity in two")),
        }
    }

    pub(super) fn check(&self) -> Result<(), WireError> {
        match self {
            Self::Product(x, y) if x >= y => {
                Err(WireError::Value("a product names the lower column first, and two columns"))
            }
            Self::Bins { edges, .. } if edges.len() > MOST_EDGES => {
                Err(WireError::Value("a column has at most 1024 bins"))
            }
            Self::Bins { edges, .. } if !edges.is_sorted_by(|a, b| a < b) => {
                Err(WireError::Value("the edges of bins ascend"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let (x, y) = self.columns();
        let code = match self {
            Self::Reading(_) => 1,
            Self::Square(_) => 2,
            Self::Product(..) => 3,
            Self::Bins { .. } => 4,
            Self::Least(_) => 5,
            Self::Largest(_) => 6,
        };
        out.push(code);
        out.extend_from_slice(&x.to_le_bytes());
        match self {
            Self::Product(..) => out.extend_from_slice(&y.to_le_bytes()),
            Self::Bins { edges, .. } => {
                write_count(out, edges.len())?;
                edges.iter().for_each(|edge| out.extend_from_slice(&edge.to_le_bytes()));
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (code, x) = (reader.u8()?, reader.u16()?);
        Ok(match code {
            1 => Self::Reading(x),
            2 => Self::Square(x),
            3 => Self::Product(x, reader.u16()?),
            4 => {
                let edges = read_count(reader, 8)?.map(|_| reader.i64()).collect::<Result<_, _>>()?;
                Self::Bins { column: x, edges }
            }
            5 => Self::Least(x),
            6 => Self::Largest(x),
            _ => return Err(WireError::Value("this quantity of a stream of sums is not known here")),
        })
    }
}
