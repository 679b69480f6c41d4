//! Tags, and parts of windows as bytes.

use core::fmt;

use crate::field::Residue;
use crate::form::Form;

/// Bytes of a tag.
pub const TAG_BYTES: usize = 8;

/// Bits of the low half of a tag.
#[cfg(feature = "alloc")]
const HALF_BITS: u32 = 31;

/// The tag of a part of a window, or of a sum: an integer modulo P = 2^61 − 1.
///
/// ```
/// use sotto_sums::{PartError, Tag};
///
/// let tag = Tag::from_bytes(&[7, 0, 0, 0, 0, 0, 0, 0])?;
/// assert_eq!(tag.to_bytes(), [7, 0, 0, 0, 0, 0, 0, 0]);
/// // Each tag has one form: P and above are refused.
/// assert_eq!(Tag::from_bytes(&[0xff; 8]), Err(PartError::Tag));
/// # Ok::<(), PartError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Tag(pub(crate) Residue);

impl Tag {
    /// Reads a tag: 64 bits, little-endian.
    ///
    /// # Errors
    /// [`PartError::Tag`] for P and above.
    pub const fn from_bytes(bytes: &[u8; TAG_BYTES]) -> Result<Self, PartError> {
        match Residue::from_canonical(u64::from_le_bytes(*bytes)) {
            Some(residue) => Ok(Self(residue)),
            None => Err(PartError::Tag),
        }
    }

    /// Returns the low 31 bits, and the 30 above: sums of such halves over 2^32 tags have less than 64 bits.
    #[cfg(feature = "alloc")]
    pub fn halves(&self) -> (u64, u64) {
        (self.0.value() & ((1 << HALF_BITS) - 1), self.0.value() >> HALF_BITS)
    }

    /// Returns the tag, modulo P, of sums of [halves](Self::halves).
    ///
    /// ```
    /// use sotto_sums::Tag;
    ///
    /// let tag = Tag::from_bytes(&[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f])?;
    /// let (low, high) = tag.halves();
    /// assert_eq!(Tag::from_halves(low, high), tag);
    /// // P − 1, twice, is P − 2.
    /// assert_eq!(Tag::from_halves(2 * low, 2 * high).to_bytes()[0], 0xfd);
    /// # Ok::<(), sotto_sums::PartError>(())
    /// ```
    #[cfg(feature = "alloc")]
    pub fn from_halves(low: u64, high: u64) -> Self {
        Self(Residue::from_sum(u128::from(low) + (u128::from(high) << HALF_BITS)))
    }

    /// Returns the tag as bytes.
    pub fn to_bytes(&self) -> [u8; TAG_BYTES] {
        self.0.value().to_le_bytes()
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.0.value() == other.0.value()
    }
}

impl Eq for Tag {}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({:016x})", self.0.value())
    }
}

/// A part of a window as the cloud reads it: the body, then the tag.
///
/// ```
/// use sotto_sums::{Form, Part, PartError, Place};
///
/// let columns = [Place::new(12, 0, 15)?];
/// let form = Form::new(&[], &columns, 1, 0, 8)?;
/// // Three ticks of 12 bits, and a tag.
/// let part = Part::read(&form, 3, &[0; 5 + 8])?;
/// assert_eq!(part.body().len(), 5);
/// assert_eq!(Part::read(&form, 3, &[0; 12]).err(), Some(PartError::Length { expected: 13, found: 12 }));
/// assert_eq!(Part::read(&form, 9, &[0; 22]).err(), Some(PartError::Ticks { most: 8, found: 9 }));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    form: Form<'a>,
    ticks: u32,
    body: &'a [u8],
    tag: Tag,
}

/// The reason why bytes are not a part of a window or of a sum.
///
/// Example: [`Part`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartError {
    /// The window has more ticks than its form allows.
    Ticks {
        /// The most ticks.
        most: u32,
        /// The window's.
        found: u32,
    },
    /// The number of bytes is not the form's.
    Length {
        /// Bytes of the form.
        expected: usize,
        /// Bytes that were given.
        found: usize,
    },
    /// The bits behind the last place are not zero.
    Padding,
    /// The tag is not below 2^61 − 1.
    Tag,
    /// A sum of counts does not have 64 bits, or takes more bytes than it needs.
    Count,
}

impl<'a> Part<'a> {
    /// Reads a part of a window of this many ticks. Neither copies nor allocates.
    ///
    /// # Errors
    /// [`PartError`].
    pub fn read(form: &Form<'a>, ticks: u32, bytes: &'a [u8]) -> Result<Self, PartError> {
        if ticks > form.ticks() {
            return Err(PartError::Ticks { most: form.ticks(), found: ticks });
        }
        let expected = form.body_bytes(ticks) + TAG_BYTES;
        let (body, tag) = bytes
            .split_last_chunk()
            .filter(|_| bytes.len() == expected)
            .ok_or(PartError::Length { expected, found: bytes.len() })?;
        let free = form.free_bits(ticks);
        if free > 0 && body.last().is_some_and(|last| last >> (8 - free) != 0) {
            return Err(PartError::Padding);
        }
        Ok(Self { form: *form, ticks, body, tag: Tag::from_bytes(tag)? })
    }

    /// Returns the form.
    pub fn form(&self) -> &Form<'a> {
        &self.form
    }

    /// Returns the ticks of the window.
    pub fn ticks(&self) -> u32 {
        self.ticks
    }

    /// Returns the packed places.
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Returns the tag.
    pub fn tag(&self) -> Tag {
        self.tag
    }
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ticks { most, found } => write!(f, "the window has {found} ticks; its form allows {most}"),
            Self::Length { expected, found } => {
                write!(f, "the part of a window has {found} bytes; its form has {expected}")
            }
            Self::Padding => f.write_str("the bits behind the last place of the window are not zero"),
            Self::Tag => f.write_str("the tag of the window is not below 2^61 - 1"),
            Self::Count => f.write_str("a sum of counts has 64 bits, in as few bytes as it needs"),
        }
    }
}

impl core::error::Error for PartError {}
