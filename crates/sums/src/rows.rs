//! Sums of many bodies that lie one behind the other.
//!
//! Rows are added as long integers, without unpacking them: once all places, once every other place alone. The places
//! between are zero there, so carries do not reach the next one; the difference of both sums has the others.

use alloc::vec::Vec;
use core::ops::Range;

use crate::bits::bits_at;
use crate::field::{PRIME, Residue};
use crate::form::{Form, Positioned};
use crate::tag::{PartError, TAG_BYTES};

/// Places have at least this many bits, or rows are unpacked.
const LEAST_WIDTH: u32 = 8;
/// Rows that are added before the sums are unpacked: a place carries fewer than 2^8 times into the next one's bits.
const BATCH: usize = 1 << LEAST_WIDTH;
/// Fewer rows are unpacked: the masks of long integers would take longer than the rows.
const LEAST_ROWS: usize = 4;
/// Words of 64 bits that are added together.
const MOST_WORDS: usize = 8;

/// Adds the rows of a table, each a body and a tag: returns the columns modulo 2^w, and the tag.
pub(crate) fn add(form: &Form<'_>, ticks: u32, rows: &[u8]) -> Result<(Vec<u64>, Residue), PartError> {
    let places = form.walk(ticks).collect::<Vec<_>>();
    let row = form.body_bytes(ticks) + TAG_BYTES;
    let (mut columns, mut tags) = (vec![0; places.len()], Tags::new(form.free_bits(ticks)));
    let adder = Adder::new(&places, rows.len() / row);
    for batch in rows.chunks(BATCH * row) {
        adder.add(&mut columns, &mut tags, batch, row);
    }
    Ok((columns, tags.sum()?))
}

/// The sum of tags, and if all rows were parts of windows.
struct Tags {
    /// The free bits of a body's last byte.
    padding: u8,
    padded: u8,
    above: bool,
    sum: u128,
}

impl Tags {
    fn new(free: usize) -> Self {
        Self { padding: if free == 0 { 0 } else { 0xff_u8 << (8 - free) }, padded: 0, above: false, sum: 0 }
    }

    #[inline(always)]
    fn add(&mut self, row: &[u8]) {
        if let Some((body, tag)) = row.split_last_chunk() {
            let tag = u64::from_le_bytes(*tag);
            self.padded |= body.last().map_or(0, |last| last & self.padding);
            self.above |= tag >= PRIME;
            self.sum += u128::from(tag);
        }
    }

    fn sum(&self) -> Result<Residue, PartError> {
        match (self.padded, self.above) {
            (0, false) => Ok(Residue::from_sum(self.sum)),
            (0, true) => Err(PartError::Tag),
            _ => Err(PartError::Padding),
        }
    }
}

/// The way to add rows of these places.
enum Adder<'p> {
    /// Places are words of 32 bits.
    Words,
    Long(Vec<Segment<'p>>),
    /// Some places are narrow, or rows are few.
    Unpacked(&'p [Positioned<'p>]),
}

impl<'p> Adder<'p> {
    fn new(places: &'p [Positioned<'p>], rows: usize) -> Self {
        if places.iter().all(|at| at.place.width() == 32) {
            Self::Words
        } else if rows >= LEAST_ROWS && places.iter().all(|at| at.place.width() >= LEAST_WIDTH) {
            Self::Long(segments(places))
        } else {
            Self::Unpacked(places)
        }
    }

    /// Adds at most [`BATCH`] rows.
    fn add(&self, columns: &mut [u64], tags: &mut Tags, rows: &[u8], row: usize) {
        match self {
            Self::Words => {
                for row in rows.chunks_exact(row) {
                    tags.add(row);
                    columns.iter_mut().zip(row.as_chunks().0).for_each(|(sum, word)| {
                        *sum = sum.wrapping_add(u32::from_le_bytes(*word).into());
                    });
                }
            }
            Self::Long(segments) => {
                let (first, rest) = segments.split_at(1);
                first.iter().for_each(|segment| segment.add(columns, |row| tags.add(row), rows, row));
                rest.iter().for_each(|segment| segment.add(columns, |_| {}, rows, row));
            }
            Self::Unpacked(places) => {
                for row in rows.chunks_exact(row) {
                    tags.add(row);
                    for (column, at) in columns.iter_mut().zip(*places) {
                        *column = column.wrapping_add(bits_at(row, at.bit, at.place.width()));
                    }
                }
            }
        }
    }
}

/// Neighbouring places that begin in a byte and span at most [`MOST_WORDS`] words.
struct Segment<'p> {
    places: &'p [Positioned<'p>],
    /// The first place's index.
    first: usize,
    byte: usize,
    words: usize,
    /// The bits of every place, and of every other place.
    all: [u64; MOST_WORDS],
    others: [u64; MOST_WORDS],
}

fn segments<'p>(places: &'p [Positioned<'p>]) -> Vec<Segment<'p>> {
    let (mut segments, mut first) = (Vec::new(), 0);
    while let Some(start) = places.get(first) {
        let byte = start.bit / 8;
        let end = |at: &Positioned<'_>| at.bit + at.place.width() as usize - 8 * byte;
        let count = places[first..].iter().take_while(|at| end(at) <= 64 * MOST_WORDS).count();
        let inside = &places[first..first + count];
        let (mut all, mut others) = ([0; MOST_WORDS], [0; MOST_WORDS]);
        for (index, at) in inside.iter().enumerate() {
            let bits = at.bit - 8 * byte..end(at);
            set(&mut all, &bits);
            if index % 2 == 0 {
                set(&mut others, &bits);
            }
        }
        let words = inside.last().map_or(0, end).div_ceil(64);
        segments.push(Segment { places: inside, first, byte, words, all, others });
        first += count;
    }
    segments
}

/// Sets some bits, at least one.
fn set(words: &mut [u64; MOST_WORDS], bits: &Range<usize>) {
    let inside = words.iter_mut().enumerate().take(bits.end.div_ceil(64)).skip(bits.start / 64);
    for (at, word) in inside {
        let (from, to) = (bits.start.saturating_sub(64 * at), (bits.end - 64 * at).min(64));
        *word |= u64::MAX << from & u64::MAX >> (64 - to);
    }
}

impl Segment<'_> {
    /// Adds at most [`BATCH`] rows.
    fn add(&self, columns: &mut [u64], each: impl FnMut(&[u8]), rows: &[u8], row: usize) {
        let (mut all, mut others) = match self.words {
            1 => self.sums::<1>(each, rows, row),
            2 => self.sums::<2>(each, rows, row),
            3 => self.sums::<3>(each, rows, row),
            4 => self.sums::<4>(each, rows, row),
            5 => self.sums::<5>(each, rows, row),
            6 => self.sums::<6>(each, rows, row),
            7 => self.sums::<7>(each, rows, row),
            _ => self.sums::<MOST_WORDS>(each, rows, row),
        };
        // Now the places between.
        let mut borrow = false;
        for (word, other) in all.iter_mut().zip(&others) {
            (*word, borrow) = word.borrowing_sub(*other, borrow);
        }
        let bytes = |words: &mut [u64; MOST_WORDS + 1]| words.map(u64::to_le_bytes);
        let (between, others) = (bytes(&mut all), bytes(&mut others));
        for (index, at) in self.places.iter().enumerate() {
            let sums = if index % 2 == 0 { &others } else { &between };
            let sum = bits_at(sums.as_flattened(), at.bit - 8 * self.byte, at.place.width());
            let column = &mut columns[self.first + index];
            *column = column.wrapping_add(sum);
        }
    }

    /// Returns the sums of rows as integers of `N` words and a carry.
    fn sums<const N: usize>(
        &self,
        mut each: impl FnMut(&[u8]),
        rows: &[u8],
        row: usize,
    ) -> ([u64; MOST_WORDS + 1], [u64; MOST_WORDS + 1]) {
        let mask = |masks: &[u64; MOST_WORDS]| core::array::from_fn::<u64, N, _>(|word| masks[word]);
        let (all_bits, other_bits) = (mask(&self.all), mask(&self.others));
        let (mut all, mut others) = (([0; N], 0), ([0; N], 0));
        for row in rows.chunks_exact(row) {
            each(row);
            // A row's tag lies behind its places, so that all words are within the row.
            let words = match row.get(self.byte..self.byte + 8 * N) {
                Some(bytes) => bytes.as_chunks().0,
                None => continue,
            };
            accumulate(&mut all, words, &all_bits);
            accumulate(&mut others, words, &other_bits);
        }
        let long = |(words, carry): ([u64; N], u64)| {
            let mut sum = [0; MOST_WORDS + 1];
            sum[..N].copy_from_slice(&words);
            sum[N] = carry;
            sum
        };
        (long(all), long(others))
    }
}

#[inline(always)]
fn accumulate<const N: usize>(sum: &mut ([u64; N], u64), words: &[[u8; 8]], bits: &[u64; N]) {
    let mut carry = false;
    for word in 0..N {
        let added = u64::from_le_bytes(words[word]) & bits[word];
        (sum.0[word], carry) = sum.0[word].carrying_add(added, carry);
    }
    sum.1 += u64::from(carry);
}
