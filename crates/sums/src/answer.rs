//! Sums as the owner receives them.

use alloc::vec::Vec;

use crate::bits::{BitWriter, bits_at};
use crate::form::Form;
use crate::tag::{Part, PartError, TAG_BYTES, Tag};

/// Bytes of a sum of counts.
const COUNT_BYTES: usize = 8;

/// A sum as the owner receives it: a claim until an [`Opening`](crate::Opening) has checked its tag.
///
/// ```
/// use sotto_sums::{Answer, Form, Part, PartError, Place, Sum};
///
/// let columns = [Place::new(12, 0, 15)?];
/// let form = Form::new(&[], &columns, 1, 0, 8)?;
/// let mut sum = Sum::new(&form);
/// sum.add(&Part::read(&form, 1, &[2, 0, 1, 0, 0, 0, 0, 0, 0, 0])?, &[1], 3)?;
/// let answer = Answer::read(&form, 1, &sum.to_bytes())?;
/// assert_eq!((answer.ticks(), answer.counts()), (1, &[3][..]));
/// assert_eq!(answer.to_bytes(), sum.to_bytes());
/// // Lengths are compared with the form before anything is allocated.
/// assert_eq!(Answer::read(&form, 2, &[0; 18]).err(), Some(PartError::Length { expected: 19, found: 18 }));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    pub(crate) form: Form<'a>,
    pub(crate) ticks: u32,
    pub(crate) columns: Vec<u64>,
    pub(crate) counts: Vec<i64>,
    pub(crate) tag: Tag,
}

impl<'a> Answer<'a> {
    /// Reads a sum over windows of up to `ticks` ticks: columns, counts, tag.
    ///
    /// # Errors
    /// [`PartError`].
    pub fn read(form: &Form<'a>, ticks: u32, bytes: &[u8]) -> Result<Self, PartError> {
        if ticks > form.ticks() {
            return Err(PartError::Ticks { most: form.ticks(), found: ticks });
        }
        let (body, counts) = (form.body_bytes(ticks), form.counts(ticks) * COUNT_BYTES);
        let expected = Self::bytes(form, ticks);
        if bytes.len() != expected {
            return Err(PartError::Length { expected, found: bytes.len() });
        }
        let free = form.free_bits(ticks);
        let (body, rest) = bytes.split_at(body);
        if free > 0 && body.last().is_some_and(|last| last >> (8 - free) != 0) {
            return Err(PartError::Padding);
        }
        let (counts, tag) = rest.split_at(counts);
        let tag = tag.first_chunk().map_or(Err(PartError::Tag), Tag::from_bytes)?;
        let columns = form.walk(ticks).map(|at| bits_at(body, at.bit, at.place.width())).collect();
        let counts = counts.as_chunks().0.iter().map(|count| i64::from_le_bytes(*count)).collect();
        Ok(Self { form: *form, ticks, columns, counts, tag })
    }

    /// Returns the bytes of a sum over windows of up to `ticks` ticks.
    pub fn bytes(form: &Form<'_>, ticks: u32) -> usize {
        form.body_bytes(ticks) + form.counts(ticks) * COUNT_BYTES + TAG_BYTES
    }

    /// Returns the columns packed like a body, the counts in eight bytes each, the tag.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.form.body_bytes(self.ticks)];
        let mut writer = BitWriter::new(&mut bytes);
        for (column, at) in self.columns.iter().zip(self.form.walk(self.ticks)) {
            writer.put(*column, at.place.width());
        }
        writer.finish();
        self.counts.iter().for_each(|count| bytes.extend(count.to_le_bytes()));
        bytes.extend(self.tag.to_bytes());
        bytes
    }

    /// Returns the form of the windows.
    pub fn form(&self) -> &Form<'a> {
        &self.form
    }

    /// Returns the ticks of the longest window.
    pub fn ticks(&self) -> u32 {
        self.ticks
    }

    /// Returns the sums of counts.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }
}

/// A part of a single window, with its counts.
impl<'a> From<(&Part<'a>, &[u16])> for Answer<'a> {
    fn from((part, counts): (&Part<'a>, &[u16])) -> Self {
        let columns =
            part.form().walk(part.ticks()).map(|at| bits_at(part.body(), at.bit, at.place.width())).collect();
        let counts = counts.iter().map(|count| i64::from(*count)).collect();
        Self { form: *part.form(), ticks: part.ticks(), columns, counts, tag: part.tag() }
    }
}
