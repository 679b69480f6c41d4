//! Sums of windows, without a key.

use alloc::vec::Vec;
use core::fmt;

use crate::answer::Answer;
use crate::bits::bits_at;
use crate::field::Residue;
use crate::form::Form;
use crate::tag::{Part, PartError, TAG_BYTES, Tag};

/// Sums of counts stay below 2^60 in magnitude: two of them differ modulo P, too.
pub(crate) const COUNT_LIMIT: u64 = 1 << 60;

/// A weighted sum of parts of windows of one form. It reveals nothing without the keys.
///
/// Windows of different lengths are added in one sum: it is as long as the longest.
///
/// ```
/// use sotto_sums::{Form, Part, Place, Sum};
///
/// let columns = [Place::new(12, 0, 15)?];
/// let form = Form::new(&[], &columns, 1, 0, 8)?;
/// let mut sum = Sum::new(&form);
/// // Places of 12 bits: 4095 and 3; then 2. Tags 5 and 1.
/// sum.add(&Part::read(&form, 2, &[0xff, 0x3f, 0, 5, 0, 0, 0, 0, 0, 0, 0])?, &[1], 1)?;
/// sum.add(&Part::read(&form, 1, &[2, 0, 1, 0, 0, 0, 0, 0, 0, 0])?, &[1], 3)?;
/// // Modulo 2^12.
/// assert_eq!(sum.columns().collect::<Vec<_>>(), [4095 + 6 - 4096, 3]);
/// assert_eq!((sum.counts(), sum.tag().to_bytes()[0]), (&[4][..], 8));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Sum<'a> {
    form: Form<'a>,
    ticks: u32,
    /// Modulo 2^64, a multiple of every 2^w.
    columns: Vec<u64>,
    counts: Vec<i64>,
    tag: Residue,
}

/// A sum apart from its form, for tables of many sums that cannot borrow one.
///
/// ```
/// use sotto_sums::{Apart, Form, Part, Place, Sum};
///
/// let columns = [Place::new(12, 0, 15)?];
/// let mut kept = Apart::default();
/// for _ in 0..3 {
///     let form = Form::new(&[], &columns, 1, 0, 8)?;
///     let mut sum = Sum::of(&form, kept)?;
///     sum.add(&Part::read(&form, 1, &[2, 0, 1, 0, 0, 0, 0, 0, 0, 0])?, &[1], 1)?;
///     kept = sum.apart();
/// }
/// let form = Form::new(&[], &columns, 1, 0, 8)?;
/// assert_eq!(Sum::of(&form, kept)?.columns().collect::<Vec<_>>(), [6]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Apart {
    ticks: u32,
    columns: Vec<u64>,
    counts: Vec<i64>,
    tag: Residue,
}

impl Apart {
    /// Returns the bytes that it takes on the heap.
    pub fn bytes(&self) -> usize {
        8 * (self.columns.capacity() + self.counts.capacity())
    }
}

/// The reason why a window is not added.
///
/// ```
/// use sotto_sums::{Form, Part, Place, Sum, SumError};
///
/// let (columns, wider) = ([Place::new(12, 0, 15)?], [Place::new(12, 0, 16)?]);
/// let mut sum = Sum::new(&Form::new(&[], &columns, 1, 0, 8)?);
/// let other = Form::new(&[], &wider, 1, 0, 8)?;
/// let window = Part::read(&other, 0, &[0; 8])?;
/// assert_eq!(sum.add(&window, &[1], 1), Err(SumError::Form));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumError {
    /// The form of the window is not the sum's.
    Form,
    /// The number of counts is not the form's.
    Counts {
        /// Counts of the form.
        expected: usize,
        /// Counts that were given.
        found: usize,
    },
    /// A sum of counts would leave ±2^60.
    Overflow,
    /// A row is not a part of a window.
    Row(PartError),
}

impl<'a> Sum<'a> {
    /// Makes an empty sum.
    pub fn new(form: &Form<'a>) -> Self {
        let (columns, counts) = (vec![0; form.places(0)], vec![0; form.counts(0)]);
        Self { form: *form, ticks: 0, columns, counts, tag: Residue::default() }
    }

    /// Goes on with a sum that was kept [apart](Sum::apart); an empty one is a new sum. Moves its numbers, and copies none.
    ///
    /// # Errors
    /// [`SumError::Form`] if it is one of another form.
    pub fn of(form: &Form<'a>, apart: Apart) -> Result<Self, SumError> {
        let Apart { ticks, columns, counts, tag } = apart;
        if columns.is_empty() && counts.is_empty() {
            return Ok(Self::new(form));
        }
        let fits = ticks <= form.ticks()
            && columns.len() == form.places(ticks)
            && counts.len() == form.counts(ticks);
        if fits { Ok(Self { form: *form, ticks, columns, counts, tag }) } else { Err(SumError::Form) }
    }

    /// Takes the sum apart from its form.
    pub fn apart(self) -> Apart {
        let Self { ticks, columns, counts, tag, .. } = self;
        Apart { ticks, columns, counts, tag }
    }

    /// Adds `weight` times a part of a window. `counts` are the window's, in the order of the form.
    ///
    /// # Errors
    /// [`SumError`]; then nothing is added.
    pub fn add(&mut self, part: &Part<'_>, counts: &[u16], weight: i64) -> Result<(), SumError> {
        if *part.form() != self.form {
            return Err(SumError::Form);
        }
        self.count(part.ticks(), counts, i128::from(weight))?;
        self.grow(part.ticks());
        let columns = self.columns.iter_mut().zip(self.form.walk(part.ticks()));
        for (column, at) in columns {
            let value = bits_at(part.body(), at.bit, at.place.width());
            *column = column.wrapping_add(value.wrapping_mul(weight as u64));
        }
        self.tag = self.tag.plus(part.tag().0.times(Residue::from_public(weight)));
        Ok(())
    }

    /// Adds whole windows of one length and with the same counts, each with weight 1, from a table. A row is a body and
    /// a tag.
    ///
    /// # Errors
    /// [`SumError`]; then nothing is added.
    pub fn add_rows(&mut self, ticks: u32, rows: &[u8], counts: &[u16]) -> Result<(), SumError> {
        if ticks > self.form.ticks() {
            return Err(SumError::Row(PartError::Ticks { most: self.form.ticks(), found: ticks }));
        }
        let row = self.form.body_bytes(ticks) + TAG_BYTES;
        if !rows.len().is_multiple_of(row) {
            return Err(SumError::Row(PartError::Length { expected: row, found: rows.len() % row }));
        }
        let (columns, tag) = crate::rows::add(&self.form, ticks, rows).map_err(SumError::Row)?;
        self.count(ticks, counts, (rows.len() / row) as i128)?;
        self.grow(ticks);
        self.columns.iter_mut().zip(columns).for_each(|(sum, column)| *sum = sum.wrapping_add(column));
        self.tag = self.tag.plus(tag);
        Ok(())
    }

    /// Adds `weight` times a sum of windows.
    ///
    /// ```
    /// use sotto_sums::{Answer, Form, Part, Place, Sum};
    ///
    /// let columns = [Place::new(12, 0, 15)?];
    /// let form = Form::new(&[], &columns, 1, 0, 8)?;
    /// let mut day = Sum::new(&form);
    /// day.add(&Part::read(&form, 1, &[2, 0, 1, 0, 0, 0, 0, 0, 0, 0])?, &[1], 1)?;
    /// let mut month = Sum::new(&form);
    /// month.add_sum(&Answer::from(&day), 3)?;
    /// assert_eq!((month.columns().next(), month.counts(), month.tag().to_bytes()[0]), (Some(6), &[3][..], 3));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SumError`]; then nothing is added.
    pub fn add_sum(&mut self, sum: &Answer<'_>, weight: i64) -> Result<(), SumError> {
        if *sum.form() != self.form {
            return Err(SumError::Form);
        }
        self.count(sum.ticks, &sum.counts, i128::from(weight))?;
        self.grow(sum.ticks);
        for (column, value) in self.columns.iter_mut().zip(&sum.columns) {
            *column = column.wrapping_add(value.wrapping_mul(weight as u64));
        }
        self.tag = self.tag.plus(sum.tag.0.times(Residue::from_public(weight)));
        Ok(())
    }

    /// Adds `factor` times some counts.
    fn count<C: Copy + Into<i64>>(&mut self, ticks: u32, counts: &[C], factor: i128) -> Result<(), SumError> {
        let (expected, found) = (self.form.counts(ticks), counts.len());
        if expected != found {
            return Err(SumError::Counts { expected, found });
        }
        let added = |at: usize| {
            let before = self.counts.get(at).copied().unwrap_or_default();
            // A factor of at most 64 bits, as is a count.
            i128::from(before).saturating_add(factor.saturating_mul(i128::from(counts[at].into())))
        };
        if (0..found).any(|at| added(at).unsigned_abs() >= u128::from(COUNT_LIMIT)) {
            return Err(SumError::Overflow);
        }
        // Each product is below 2^61 then, so its low 64 bits are all of it.
        let factor = factor as i64;
        self.counts.resize(self.counts.len().max(found), 0);
        self.counts.iter_mut().zip(counts).for_each(|(sum, count)| {
            *sum = sum.wrapping_add(factor.wrapping_mul((*count).into()));
        });
        Ok(())
    }

    fn grow(&mut self, ticks: u32) {
        self.ticks = self.ticks.max(ticks);
        self.columns.resize(self.form.places(self.ticks), 0);
    }

    /// Returns the form of the windows.
    pub fn form(&self) -> &Form<'a> {
        &self.form
    }

    /// Returns the ticks of the longest window.
    pub fn ticks(&self) -> u32 {
        self.ticks
    }

    /// Returns the sums modulo 2^w, by place.
    pub fn columns(&self) -> impl Iterator<Item = u64> {
        self.columns.iter().zip(self.form.walk(self.ticks)).map(|(column, at)| column & at.place.low_bits())
    }

    /// Returns the sums of counts.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// Returns the sum of tags.
    pub fn tag(&self) -> Tag {
        Tag(self.tag)
    }

    /// Returns the sum as bytes, which [`Answer::read`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        Answer::from(self).to_bytes()
    }
}

impl<'a> From<&Sum<'a>> for Answer<'a> {
    fn from(sum: &Sum<'a>) -> Self {
        let (columns, counts) = (sum.columns().collect(), sum.counts().to_vec());
        Self { form: sum.form, ticks: sum.ticks, columns, counts, tag: sum.tag() }
    }
}

impl fmt::Display for SumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("the window's form is not the one of the sum"),
            Self::Counts { expected, found } => {
                write!(f, "the window has {found} counts; its form has {expected}")
            }
            Self::Overflow => {
                f.write_str("a sum of counts leaves 2^60: add fewer windows, or smaller weights")
            }
            Self::Row(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SumError {}
