//! Opening of sums: pads are taken away, the tag is checked.

use alloc::vec::Vec;
use core::fmt;

use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::answer::Answer;
use crate::encrypt::is_outside;
use crate::field::{Residue, Total};
use crate::form::{Form, Place};
use crate::key::StartKeys;
use crate::lanes::{Group, LANES};
use crate::sum::COUNT_LIMIT;
use crate::tag_key::TagKey;
use crate::words::BLOCK_WORDS;

/// The windows of a sum that the owner asked for: their pads, added up with their weights. Wiped when dropped.
///
/// ```
/// use sotto_sums::{
///     Answer, Encryptor, Form, OpenError, Opening, Part, Place, StartKeys, StreamKeys, Sum, TagKey,
/// };
///
/// let columns = [Place::new(23, 0, 4095)?];
/// let form = Form::new(&[], &columns, 1, 0, 4)?;
/// let (secret, stream, salt) = ([1; 32], [2; 32], [3; 12]); // a real secret and salt are random
///
/// // The device sends two windows, the second of two ticks; the cloud adds them without a key.
/// let (mut encryptor, mut sum) = (Encryptor::new(&secret, &stream, &salt, 0), Sum::new(&form));
/// for (number, readings) in [(0, &[215, 198, 187][..]), (1, &[203, 4000])] {
///     let (ticks, mut bytes) = (readings.len() as u32, vec![0; form.body_bytes(readings.len() as u32)]);
///     let values = readings.iter().map(|reading| Some(*reading));
///     let tag = encryptor.window(number)?.encrypt(&form, ticks, 0, values, [1], &mut bytes)?;
///     bytes.extend(tag.to_bytes());
///     sum.add(&Part::read(&form, ticks, &bytes)?, &[1], 1)?;
/// }
///
/// // The owner has the device's secret.
/// let start = StartKeys::derive(&secret, &stream, &salt);
/// let key = TagKey::new(&StreamKeys::derive(&secret, &stream), &form, 0);
/// let mut opening = Opening::new(&form, 0);
/// opening.add(&start, 0, 3, 1, |_place| true);
/// opening.add(&start, 1, 2, 1, |_place| true);
/// assert_eq!(opening.open(&key, &Answer::from(&sum))?, [418, 4198, 187]);
///
/// // Windows that the owner did not ask for.
/// opening.add(&start, 2, 3, 1, |_place| true);
/// assert_eq!(opening.open(&key, &Answer::from(&sum)), Err(OpenError::Refused));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Opening<'a> {
    form: Form<'a>,
    part: u32,
    ticks: u32,
    /// Σ c·K by word of key stream, modulo 2^64.
    words: Vec<u64>,
    /// Σ c·F.
    tag_pads: Residue,
    /// Σ of the positive weights, and of the others' magnitudes.
    up: u64,
    down: u64,
}

/// The reason why a sum is not opened.
///
/// Example: [`Opening`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The weights are too large for the bits of a place: (most − least)·Σ|c| is not below 2^w. The answer was not read.
    Weights,
    /// The answer is not the sum of these windows.
    Refused,
}

impl<'a> Opening<'a> {
    /// Makes the opening of a sum over no windows.
    pub fn new(form: &Form<'a>, part: u32) -> Self {
        let words = vec![0; form.words(form.ticks())];
        Self { form: *form, part, ticks: 0, words, tag_pads: Residue::default(), up: 0, down: 0 }
    }

    /// Adds the pads of a window with this pad number, of a start of the stream. `present` tells of each place if the
    /// window has it; both are public. Ticks above the form's count as the form's.
    pub fn add(
        &mut self,
        start: &StartKeys,
        number: u64,
        ticks: u32,
        weight: i64,
        present: impl Fn(usize) -> bool,
    ) {
        let ticks = self.begin(ticks, weight);
        let mut pads = start.pads.words(number, self.part, self.form.words(ticks));
        for (index, at) in self.form.walk(ticks).enumerate() {
            if present(index) {
                for word in at.word..at.word + at.place.words() {
                    let pad = u64::from(pads.word(word)).wrapping_mul(weight as u64);
                    self.words[word] = self.words[word].wrapping_add(pad);
                }
            }
        }
        let pad = start.tag_pads.residue(number, self.part);
        self.tag_pads = self.tag_pads.plus(pad.times(Residue::from_public(weight)));
    }

    /// Adds the pads of many windows without gaps, of one start and one length: pad numbers and weights. Several windows
    /// are computed at once.
    pub fn add_whole(&mut self, start: &StartKeys, ticks: u32, windows: &[(u64, i64)]) {
        let (groups, rest) = windows.as_chunks::<LANES>();
        let (mut pads, mut tag_pads) = (Group::of(&start.pads), Group::of(&start.tag_pads));
        for group in groups {
            let mut ticks = ticks;
            for (lane, (number, weight)) in group.iter().enumerate() {
                ticks = self.begin(ticks, *weight);
                pads.set(lane, *number, self.part);
                tag_pads.set(lane, *number, self.part);
            }
            let weights = group.map(|(_, weight)| weight);
            let words = self.form.words(ticks);
            for (block, sums) in self.words[..words].chunks_mut(BLOCK_WORDS).enumerate() {
                add_block(sums, pads.draw(block as u32), &weights);
            }
            self.tag_pads = self.tag_pads.plus(sum_of_residues(tag_pads.draw(0), &weights));
        }
        for (number, weight) in rest {
            self.add(start, *number, ticks, *weight, |_| true);
        }
    }

    /// Counts a window; returns its ticks.
    fn begin(&mut self, ticks: u32, weight: i64) -> u32 {
        let (up, down) = if weight > 0 { (weight.unsigned_abs(), 0) } else { (0, weight.unsigned_abs()) };
        (self.up, self.down) = (self.up.saturating_add(up), self.down.saturating_add(down));
        let ticks = ticks.min(self.form.ticks());
        self.ticks = self.ticks.max(ticks);
        ticks
    }

    /// Returns true if the sum of these windows is known from its residues: (most − least)·Σ|c| < 2^w at every place. An
    /// owner asks for no other sum.
    pub fn fits(&self) -> bool {
        self.form.fits(self.up.saturating_add(self.down))
    }

    /// Takes the pads away, lifts each value to the interval of the sums that these weights allow, checks the tag, then the
    /// values' ranges. Returns the values by place.
    ///
    /// # Errors
    /// [`OpenError::Weights`] if the weights do not [fit](Self::fits). Else [`OpenError::Refused`], for any answer that is
    /// not the sum of exactly these windows with these weights.
    pub fn open(&self, key: &TagKey, answer: &Answer<'_>) -> Result<Vec<i64>, OpenError> {
        if !self.fits() {
            return Err(OpenError::Weights);
        }
        let public = answer.form == self.form
            && answer.ticks == self.ticks
            && key.part == self.part
            && key.places.len() >= answer.columns.len()
            && key.counts.len() >= answer.counts.len()
            && answer.counts.iter().all(|count| count.unsigned_abs() < COUNT_LIMIT);
        if !public {
            return Err(OpenError::Refused);
        }
        let (mut tag, mut outside) = (Total::default(), 0);
        tag.add(self.tag_pads);
        let mut values = Vec::with_capacity(answer.columns.len());
        let columns = answer.columns.iter().zip(&key.places).zip(self.form.walk(self.ticks));
        for ((column, k), at) in columns {
            let mut pads = self.words[at.word];
            if at.place.words() == 2 {
                pads = pads.wrapping_add(self.words[at.word + 1] << 32);
            }
            let (value, beyond) = lift(at.place, self.up, self.down, column.wrapping_sub(pads));
            tag.add_product(*k, Residue::from_integer(value));
            outside |= beyond;
            values.push(value);
        }
        for (count, k) in answer.counts.iter().zip(&key.counts) {
            tag.add_product(*k, Residue::from_integer(*count));
        }
        let right = tag.residue().value().ct_eq(&answer.tag.0.value());
        if bool::from(right & outside.ct_eq(&0)) {
            return Ok(values);
        }
        values.zeroize();
        Err(OpenError::Refused)
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.words.zeroize();
        self.tag_pads.zeroize();
    }
}

impl ZeroizeOnDrop for Opening<'_> {}

/// Returns the value of a residue modulo 2^w in the interval of 2^w integers from the least sum on, and 1 if it is above the
/// largest. `up` and `down` are the sums of the positive weights and of the others' magnitudes; they fit.
#[inline]
pub(crate) fn lift(place: &Place, up: u64, down: u64, residue: u64) -> (i64, u64) {
    // The weights fit: each product is below 2^60 in magnitude.
    let times = |value: i64, total: u64| value.wrapping_mul(total as i64);
    let least = times(place.least(), up).wrapping_sub(times(place.most(), down));
    let span = place.span().wrapping_mul(up.wrapping_add(down));
    let value = least.wrapping_add((residue.wrapping_sub(least as u64) & place.low_bits()) as i64);
    (value, is_outside(least, span, value))
}

/// Adds the words of a block of several windows, each with the weight of its window.
fn add_block(sums: &mut [u64], words: &[[u32; LANES]; BLOCK_WORDS], weights: &[i64; LANES]) {
    let ones = weights.iter().all(|weight| *weight == 1);
    for (sum, lanes) in sums.iter_mut().zip(words) {
        let added: u64 = if ones {
            lanes.iter().map(|word| u64::from(*word)).sum()
        } else {
            let products =
                lanes.iter().zip(weights).map(|(word, c)| u64::from(*word).wrapping_mul(*c as u64));
            products.fold(0, u64::wrapping_add)
        };
        *sum = sum.wrapping_add(added);
    }
}

/// Returns Σ c·F over the first residues of several windows.
fn sum_of_residues(words: &[[u32; LANES]; BLOCK_WORDS], weights: &[i64; LANES]) -> Residue {
    let lanes = words[0].iter().zip(&words[1]).zip(weights);
    lanes.fold(Residue::default(), |sum, ((low, high), weight)| {
        let residue = Residue::from_word(u64::from(*high) << 32 | u64::from(*low));
        sum.plus(if *weight == 1 { residue } else { residue.times(Residue::from_public(*weight)) })
    })
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Weights => {
                "the sum does not fit the bits of its places: ask for fewer windows, or smaller weights"
            }
            Self::Refused => "the answer is not the sum of the windows that were asked for",
        })
    }
}

impl core::error::Error for OpenError {}
