//! Sums as the owner receives them.

use alloc::vec::Vec;

use crate::bits::{BitWriter, bits_at};
use crate::form::Form;
use crate::tag::{Part, PartError, TAG_BYTES, Tag};

/// Most bytes of a sum of counts: 64 bits, seven a byte.
const MOST_COUNT_BYTES: usize = 10;

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
/// assert_eq!(Answer::read(&form, 2, &[0; 11]).err(), Some(PartError::Length { expected: 12, found: 11 }));
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
        match Self::parse(form, ticks, bytes)? {
            (answer, []) => Ok(answer),
            (answer, _) => Err(PartError::Length { expected: answer.to_bytes().len(), found: bytes.len() }),
        }
    }

    /// Reads a sum at the beginning of some bytes, and returns the rest.
    ///
    /// # Errors
    /// [`PartError`]; its length is the least that a sum has.
    pub fn parse<'b>(form: &Form<'a>, ticks: u32, bytes: &'b [u8]) -> Result<(Self, &'b [u8]), PartError> {
        if ticks > form.ticks() {
            return Err(PartError::Ticks { most: form.ticks(), found: ticks });
        }
        // Before anything is allocated: a count takes at least a byte.
        let expected = form.body_bytes(ticks) + form.counts(ticks) + TAG_BYTES;
        let short = PartError::Length { expected, found: bytes.len() };
        if bytes.len() < expected {
            return Err(short);
        }
        let free = form.free_bits(ticks);
        let (body, mut rest) = bytes.split_at(form.body_bytes(ticks));
        if free > 0 && body.last().is_some_and(|last| last >> (8 - free) != 0) {
            return Err(PartError::Padding);
        }
        let columns = form.walk(ticks).map(|at| bits_at(body, at.bit, at.place.width())).collect();
        let mut counts = Vec::with_capacity(form.counts(ticks));
        for _ in 0..form.counts(ticks) {
            let (count, after) = read_count(rest)?;
            counts.push(count);
            rest = after;
        }
        let (tag, rest) = rest.split_first_chunk().ok_or(short)?;
        Ok((Self { form: *form, ticks, columns, counts, tag: Tag::from_bytes(tag)? }, rest))
    }

    /// Returns the most bytes of a sum over windows of up to `ticks` ticks.
    pub fn most_bytes(form: &Form<'_>, ticks: u32) -> usize {
        form.body_bytes(ticks) + form.counts(ticks) * MOST_COUNT_BYTES + TAG_BYTES
    }

    /// Returns the columns packed like a body, the counts in as few bytes as they need, the tag.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.form.body_bytes(self.ticks)];
        let mut writer = BitWriter::new(&mut bytes);
        for (column, at) in self.columns.iter().zip(self.form.walk(self.ticks)) {
            writer.put(*column, at.place.width());
        }
        writer.finish();
        self.counts.iter().for_each(|count| write_count(&mut bytes, *count));
        bytes.extend(self.tag.to_bytes());
        bytes
    }

    /// Makes a sum of its numbers, as an engine adds them that knows no windows: sums by place, of which the low w bits count,
    /// sums of counts, and the sum of tags.
    ///
    /// ```
    /// use sotto_sums::{Answer, Form, PartError, Place, Tag};
    ///
    /// let columns = [Place::new(12, 0, 15)?];
    /// let form = Form::new(&[], &columns, 1, 0, 8)?;
    /// let tag = Tag::from_halves(7, 0);
    /// let answer = Answer::of_columns(&form, 2, vec![4095 + 6, 3], vec![4], tag)?;
    /// assert_eq!((answer.columns(), answer.counts(), answer.tag()), (&[5, 3][..], &[4][..], tag));
    /// let short = Answer::of_columns(&form, 3, vec![5, 3], vec![4], tag);
    /// assert_eq!(short.err(), Some(PartError::Length { expected: 3, found: 2 }));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PartError::Ticks`], and [`PartError::Length`] in numbers: those of the form for so many ticks.
    pub fn of_columns(
        form: &Form<'a>,
        ticks: u32,
        mut columns: Vec<u64>,
        counts: Vec<i64>,
        tag: Tag,
    ) -> Result<Self, PartError> {
        if ticks > form.ticks() {
            return Err(PartError::Ticks { most: form.ticks(), found: ticks });
        }
        for (expected, found) in [(form.places(ticks), columns.len()), (form.counts(ticks), counts.len())] {
            if expected != found {
                return Err(PartError::Length { expected, found });
            }
        }
        columns.iter_mut().zip(form.walk(ticks)).for_each(|(column, at)| *column &= at.place.low_bits());
        Ok(Self { form: *form, ticks, columns, counts, tag })
    }

    /// Returns the form of the windows.
    pub fn form(&self) -> &Form<'a> {
        &self.form
    }

    /// Returns the sums modulo 2^w, by place: encrypted.
    pub fn columns(&self) -> &[u64] {
        &self.columns
    }

    /// Returns the sum of tags.
    pub fn tag(&self) -> Tag {
        self.tag
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

/// Appends a count: 2·count, or −2·count − 1 below 0, seven bits a byte, the lowest first; all bytes but the last have
/// their highest bit set.
fn write_count(bytes: &mut Vec<u8>, count: i64) {
    let mut left = (count as u64) << 1 ^ (count >> (i64::BITS - 1)) as u64;
    while left >= 0x80 {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

/// Reads a count, and returns the rest. Each has one form.
fn read_count(bytes: &[u8]) -> Result<(i64, &[u8]), PartError> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(MOST_COUNT_BYTES) {
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has one bit left; the last byte is not 0, unless it is the only one.
        if (at + 1 == MOST_COUNT_BYTES && bits > 1) || (at > 0 && *byte == 0) {
            return Err(PartError::Count);
        }
        number |= bits << (7 * at);
        if byte & 0x80 == 0 {
            return Ok(((number >> 1) as i64 ^ -((number & 1) as i64), &bytes[at + 1..]));
        }
    }
    Err(PartError::Count)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_one_form() {
        for count in [0, 1, -1, 63, -64, 64, -65, 1 << 40, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            write_count(&mut bytes, count);
            bytes.push(7);
            let rest = &[7][..];
            assert_eq!(read_count(&bytes), Ok((count, rest)));
        }
        for refused in [
            &[][..],
            &[0x80],
            &[0x80, 0],
            &[0xff; 10],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
        ] {
            assert_eq!(read_count(refused), Err(PartError::Count), "{refused:?}");
        }
    }
}
