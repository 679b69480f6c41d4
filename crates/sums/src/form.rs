//! The form of a part of a stream's windows: its places and counts.

use core::fmt;

/// Maximum places, and maximum counts, of a part of a window.
pub const MOST_PLACES: usize = 1 << 16;
/// Maximum bits of a place: two values of a place differ modulo P, too.
pub const MOST_WIDTH: u32 = 60;
/// Maximum total Σ|c| of the weights of a sum: sums of counts, each below 2^16, stay below 2^60.
pub const MOST_WEIGHT: u64 = 1 << 44;

/// A place of a window: its bits w, and the range of its values.
///
/// A sum with weights c is known from its residue modulo 2^w if (most − least)·Σ|c| < 2^w.
///
/// ```
/// use sotto_sums::{FormError, Place};
///
/// // Readings of 12 bits, sums of 2,048 windows.
/// let place = Place::new(23, 0, 4095)?;
/// assert!(place.fits(2048) && !place.fits(2049));
/// // Readings of −40 to 60.
/// assert!(Place::new(8, -40, 60)?.fits(2));
/// assert_eq!(Place::new(61, 0, 1), Err(FormError::Width));
/// assert_eq!(Place::new(8, 1, 2), Err(FormError::Range));
/// # Ok::<(), FormError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    width: u8,
    least: i64,
    most: i64,
}

impl Place {
    /// Makes a place of `width` bits with values from `least` to `most`.
    ///
    /// # Errors
    /// [`FormError::Width`] unless the width is 1 to 60. [`FormError::Range`] if the range does not include 0, the
    /// value of an absent place, or has more than 2^width values.
    pub const fn new(width: u32, least: i64, most: i64) -> Result<Self, FormError> {
        if width == 0 || width > MOST_WIDTH {
            return Err(FormError::Width);
        }
        let end = 1 << width;
        if least > 0 || most < 0 || least <= -end || most >= end || most - least >= end {
            return Err(FormError::Range);
        }
        Ok(Self { width: width as u8, least, most })
    }

    /// Returns w.
    pub const fn width(&self) -> u32 {
        self.width as u32
    }

    /// Returns the least value.
    pub const fn least(&self) -> i64 {
        self.least
    }

    /// Returns the largest value.
    pub const fn most(&self) -> i64 {
        self.most
    }

    /// Returns true if every sum whose weights have this total Σ|c| is known from its residue modulo 2^w. False above
    /// [`MOST_WEIGHT`].
    pub const fn fits(&self, total: u64) -> bool {
        // Below 2^60 · 2^44.
        total <= MOST_WEIGHT && ((self.most - self.least) as u128 * total as u128) < 1 << self.width
    }

    /// Returns the number of values less one.
    pub(crate) const fn span(&self) -> u64 {
        (self.most - self.least) as u64
    }

    /// Returns a mask of the low w bits.
    pub(crate) const fn low_bits(&self) -> u64 {
        u64::MAX >> (u64::BITS - self.width as u32)
    }

    /// Returns true if the magnitudes of all values are below 2^31.
    pub(crate) const fn is_small(&self) -> bool {
        self.least > -(1 << 31) && self.most < 1 << 31
    }

    /// Returns the words of key stream that the pad of this place has.
    pub(crate) const fn words(&self) -> usize {
        if self.width <= 32 { 1 } else { 2 }
    }
}

/// The form of a part: the places that a window has once, those of each tick, and the numbers of its counts.
///
/// A place has one index in all windows: first those that a window has once, then tick after tick, all columns of a tick
/// together. Counts are public numbers of a window, ordered likewise; the first is 1, the window itself.
///
/// ```
/// use sotto_sums::{Form, FormError, Place};
///
/// // Two columns; a window counts itself and the readings of each tick and column.
/// let columns = [Place::new(23, 0, 4095)?, Place::new(32, -1000, 1000)?];
/// let form = Form::new(&[], &columns, 1, 2, 24)?;
/// assert_eq!((form.places(24), form.counts(24)), (48, 49));
/// // Days of 23 hours have the same form, and fewer places.
/// assert_eq!((form.places(23), form.body_bytes(23)), (46, 23 * 55 / 8 + 1));
/// assert_eq!(Form::new(&[], &columns, 0, 2, 24), Err(FormError::Counts));
/// # Ok::<(), FormError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form<'a> {
    once: &'a [Place],
    tick: &'a [Place],
    counts_once: u32,
    counts_tick: u32,
    ticks: u32,
}

/// The reason why a place or a form is not valid.
///
/// Example: [`Place`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormError {
    /// The bits of a place are not from 1 to 60.
    Width,
    /// The range of a place does not include 0, or has more values than its bits can tell apart.
    Range,
    /// The number of places of the longest window is not from 1 to 65,536.
    Places,
    /// The number of counts of the longest window is above 65,536, or a window does not count itself.
    Counts,
}

/// A place with its positions.
#[derive(Clone, Copy)]
pub(crate) struct Positioned<'a> {
    pub(crate) place: &'a Place,
    /// The first word of its pad in the key stream.
    pub(crate) word: usize,
    /// Its first bit in a body.
    #[cfg_attr(not(feature = "alloc"), allow(dead_code))]
    pub(crate) bit: usize,
}

impl<'a> Form<'a> {
    /// Makes a form of windows of up to `ticks` ticks. `counts_once` and `counts_tick` are the numbers of counts that a
    /// window has once and for each tick.
    ///
    /// # Errors
    /// [`FormError::Places`] and [`FormError::Counts`].
    pub const fn new(
        once: &'a [Place],
        tick: &'a [Place],
        counts_once: u32,
        counts_tick: u32,
        ticks: u32,
    ) -> Result<Self, FormError> {
        let places = once.len() as u128 + tick.len() as u128 * ticks as u128;
        if places == 0 || places > MOST_PLACES as u128 {
            return Err(FormError::Places);
        }
        let counts = counts_once as u128 + counts_tick as u128 * ticks as u128;
        if counts_once == 0 || counts > MOST_PLACES as u128 {
            return Err(FormError::Counts);
        }
        Ok(Self { once, tick, counts_once, counts_tick, ticks })
    }

    /// Returns the ticks of the longest window.
    pub const fn ticks(&self) -> u32 {
        self.ticks
    }

    /// Returns the places of a window of this many ticks.
    pub const fn places(&self, ticks: u32) -> usize {
        self.once.len() + self.tick.len() * ticks as usize
    }

    /// Returns the places of a window of this many ticks, in the order of their indices.
    ///
    /// ```
    /// use sotto_sums::{Form, FormError, Place};
    ///
    /// let (once, columns) = ([Place::new(16, 0, 9)?], [Place::new(23, 0, 4095)?, Place::new(32, -1000, 1000)?]);
    /// let form = Form::new(&once, &columns, 1, 2, 24)?;
    /// assert_eq!(form.each_place(2).map(Place::width).collect::<Vec<_>>(), [16, 23, 32, 23, 32]);
    /// # Ok::<(), FormError>(())
    /// ```
    pub fn each_place(&self, ticks: u32) -> impl Iterator<Item = &'a Place> + use<'a> {
        self.walk(ticks).map(|at| at.place)
    }

    /// Returns the counts of a window of this many ticks.
    pub const fn counts(&self, ticks: u32) -> usize {
        self.counts_once as usize + self.counts_tick as usize * ticks as usize
    }

    /// Returns the bytes of a body: all places of a window, packed.
    pub fn body_bytes(&self, ticks: u32) -> usize {
        let bits = |places: &[Place]| places.iter().map(|place| place.width() as usize).sum::<usize>();
        (bits(self.once) + bits(self.tick) * ticks as usize).div_ceil(8)
    }

    /// Returns true if every sum whose weights have this total Σ|c| is known from its residues: see [`Place::fits`].
    pub fn fits(&self, total: u64) -> bool {
        self.once.iter().chain(self.tick).all(|place| place.fits(total))
    }

    /// Returns the largest total Σ|c| of weights with which every sum is known from its residues, at most
    /// [`MOST_WEIGHT`]: see [`Place::fits`].
    ///
    /// ```
    /// use sotto_sums::{Form, FormError, Place};
    ///
    /// let columns = [Place::new(23, 0, 4095)?, Place::new(32, -1000, 1000)?];
    /// let form = Form::new(&[], &columns, 1, 2, 24)?;
    /// assert_eq!(form.capacity(), 2048);
    /// assert!(form.fits(2048) && !form.fits(2049));
    /// # Ok::<(), FormError>(())
    /// ```
    pub fn capacity(&self) -> u64 {
        let of = |place: &Place| ((1 << place.width()) - 1) / place.span().max(1);
        self.once.iter().chain(self.tick).map(of).fold(MOST_WEIGHT, u64::min)
    }

    /// Returns the words of key stream that the pads of a window span.
    pub(crate) fn words(&self, ticks: u32) -> usize {
        let words = |places: &[Place]| places.iter().map(Place::words).sum::<usize>();
        words(self.once) + words(self.tick) * ticks as usize
    }

    /// Returns the bits of a body that no place uses.
    pub(crate) fn free_bits(&self, ticks: u32) -> usize {
        let bits = |places: &[Place]| places.iter().map(|place| place.width() as usize).sum::<usize>();
        8 * self.body_bytes(ticks) - bits(self.once) - bits(self.tick) * ticks as usize
    }

    /// Returns the places of a window in the order of their indices.
    pub(crate) fn walk(&self, ticks: u32) -> Walk<'a> {
        Walk {
            rest: self.once,
            tick: self.tick,
            ticks: if self.tick.is_empty() { 0 } else { ticks },
            word: 0,
            bit: 0,
        }
    }
}

/// The places of a window with their positions.
pub(crate) struct Walk<'a> {
    /// The places before the next tick.
    rest: &'a [Place],
    tick: &'a [Place],
    ticks: u32,
    word: usize,
    bit: usize,
}

impl<'a> Iterator for Walk<'a> {
    type Item = Positioned<'a>;

    #[inline]
    fn next(&mut self) -> Option<Positioned<'a>> {
        if self.rest.is_empty() {
            self.ticks = self.ticks.checked_sub(1)?;
            self.rest = self.tick;
        }
        let (place, rest) = self.rest.split_first()?;
        self.rest = rest;
        let positioned = Positioned { place, word: self.word, bit: self.bit };
        self.word += place.words();
        self.bit += place.width() as usize;
        Some(positioned)
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Width => "the bits of a place are not from 1 to 60; split a wider quantity into two places",
            Self::Range => {
                "the range of a place does not include 0, or has more values than its bits tell apart"
            }
            Self::Places => "the longest window does not have 1 to 65,536 places",
            Self::Counts => "the longest window has more than 65,536 counts, or does not count itself",
        })
    }
}

impl core::error::Error for FormError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_within_their_ranges() {
        assert!(Place::new(1, 0, 1).is_ok() && Place::new(60, -(1 << 59), (1 << 59) - 1).is_ok());
        assert_eq!(Place::new(0, 0, 0), Err(FormError::Width));
        for (least, most) in
            [(0, 256), (-128, 128), (-256, 0), (i64::MIN, 0), (0, i64::MAX), (i64::MIN, i64::MAX), (-3, -1)]
        {
            assert_eq!(Place::new(8, least, most), Err(FormError::Range), "{least} to {most}");
        }
        let place = Place::new(60, 0, (1 << 60) - 1).unwrap_or_else(|error| panic!("{error}"));
        assert!(place.fits(1) && !place.fits(2) && !place.fits(u64::MAX));
    }

    #[test]
    fn forms_are_bounded() {
        let places = [Place::new(8, 0, 1).unwrap_or_else(|error| panic!("{error}")); 3];
        assert_eq!(Form::new(&[], &[], 1, 0, 0), Err(FormError::Places));
        assert_eq!(Form::new(&[], &places, 1, 0, 0), Err(FormError::Places));
        assert_eq!(Form::new(&places, &places, 1, 0, u32::MAX), Err(FormError::Places));
        assert_eq!(Form::new(&places, &[], 1, u32::MAX, u32::MAX), Err(FormError::Counts));
        assert!(Form::new(&places[..1], &places, 1, 3, 21_845).is_ok());
        assert_eq!(Form::new(&places[..1], &places, 2, 3, 21_845), Err(FormError::Counts));
    }

    #[test]
    fn places_follow_each_other() {
        let place = |width| Place::new(width, 0, 1).unwrap_or_else(|error| panic!("{error}"));
        let (once, tick) = ([place(33)], [place(32), place(60)]);
        let form = Form::new(&once, &tick, 1, 0, 2).unwrap_or_else(|error| panic!("{error}"));
        let mut positions = [(0, 0); 5];
        for (to, at) in positions.iter_mut().zip(form.walk(2)) {
            *to = (at.word, at.bit);
        }
        assert_eq!(positions, [(0, 0), (2, 33), (3, 65), (5, 125), (6, 157)]);
        assert_eq!((form.words(2), form.body_bytes(2), form.free_bits(2)), (8, 28, 7));
    }
}
