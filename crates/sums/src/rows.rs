//! Sums of many bodies that lie one behind the other.
//!
//! Rows are added as long integers, without unpacking them: once all places, once every other place alone. The places
//! between are zero there, so carries do not reach the next one; the difference of both sums has the others.

use alloc::vec::Vec;

use crate::bits::bits_at;
use crate::field::{PRIME, Residue};
use crate::form::{Form, Positioned};
use crate::tag::{PartError, TAG_BYTES};

/// Places have at least this many bits, or rows are unpacked.
const LEAST_WIDTH: u32 = 8;
/// Rows that are added before the sums are unpacked: a place carries fewer than 2^8 times into the next one's bits.
const BATCH: usize = 1 << LEAST_WIDTH;
/// Words of 64 bits that are added together.
const MOST_WORDS: usize = 8;

/// Adds the rows of a table, each a body and a tag: returns the columns modulo 2^w, and the tag.
pub(crate) fn add(form: &Form<'_>, ticks: u32, rows: &[u8]) -> Result<(Vec<u64>, Residue), PartError> {
    let (body, places) = (form.body_bytes(ticks), form.walk(ticks).collect::<Vec<_>>());
    let row = body + TAG_BYTES;
    let tag = check(rows, body, form.free_bits(ticks))?;
    let mut columns = vec![0; places.len()];
    if places.iter().all(|at| at.place.width() == 32) {
        add_words(&mut columns, rows, row);
    } else if places.iter().all(|at| at.place.width() >= LEAST_WIDTH) {
        let segments = segments(&places);
        for batch in rows.chunks(BATCH * row) {
            segments.iter().for_each(|segment| segment.add(&mut columns, batch, row));
        }
    } else {
        for row in rows.chunks_exact(row) {
            for (column, at) in columns.iter_mut().zip(&places) {
                *column = column.wrapping_add(bits_at(row, at.bit, at.place.width()));
            }
        }
    }
    Ok((columns, tag))
}

/// Returns the sum of the tags, if all rows are parts of windows.
fn check(rows: &[u8], body: usize, free: usize) -> Result<Residue, PartError> {
    // The free bits of the last byte; a body has at least one byte.
    let padding = if free == 0 { 0 } else { 0xff_u8 << (8 - free) };
    let (mut sum, mut padded, mut above) = (0_u128, 0, false);
    for row in rows.chunks_exact(body + TAG_BYTES) {
        let tag = u64::from_le_bytes(row.last_chunk().copied().unwrap_or_default());
        padded |= row[body - 1] & padding;
        above |= tag >= PRIME;
        sum += u128::from(tag);
    }
    match (padded, above) {
        (0, false) => Ok(Residue::from_sum(sum)),
        (0, true) => Err(PartError::Tag),
        _ => Err(PartError::Padding),
    }
}

/// Adds rows whose places are words of 32 bits.
fn add_words(columns: &mut [u64], rows: &[u8], row: usize) {
    let mut sums = vec![0_u32; columns.len()];
    for row in rows.chunks_exact(row) {
        sums.iter_mut().zip(row.as_chunks().0).for_each(|(sum, word)| {
            *sum = sum.wrapping_add(u32::from_le_bytes(*word));
        });
    }
    columns.iter_mut().zip(sums).for_each(|(column, sum)| *column = sum.into());
}

/// Neighbouring places that begin in a byte and span at most [`MOST_WORDS`] words.
struct Segment<'p> {
    places: &'p [Positioned],
    /// The first place's index.
    first: usize,
    byte: usize,
    words: usize,
    /// The bits of every place, and of every other place.
    all: [u64; MOST_WORDS],
    others: [u64; MOST_WORDS],
}

fn segments(places: &[Positioned]) -> Vec<Segment<'_>> {
    let (mut segments, mut first) = (Vec::new(), 0);
    while let Some(start) = places.get(first) {
        let byte = start.bit / 8;
        let end = |at: &Positioned| at.bit + at.place.width() as usize - 8 * byte;
        let count = places[first..].iter().take_while(|at| end(at) <= 64 * MOST_WORDS).count();
        let inside = &places[first..first + count];
        let (mut all, mut others) = ([0; MOST_WORDS], [0; MOST_WORDS]);
        for (index, at) in inside.iter().enumerate() {
            for bit in at.bit - 8 * byte..end(at) {
                all[bit / 64] |= 1 << (bit % 64);
                others[bit / 64] |= u64::from(index % 2 == 0) << (bit % 64);
            }
        }
        let words = inside.last().map_or(0, end).div_ceil(64);
        segments.push(Segment { places: inside, first, byte, words, all, others });
        first += count;
    }
    segments
}

impl Segment<'_> {
    /// Adds at most [`BATCH`] rows.
    fn add(&self, columns: &mut [u64], rows: &[u8], row: usize) {
        let (mut all, mut others) = match self.words {
            1 => self.sums::<1>(rows, row),
            2 => self.sums::<2>(rows, row),
            3 => self.sums::<3>(rows, row),
            4 => self.sums::<4>(rows, row),
            5 => self.sums::<5>(rows, row),
            6 => self.sums::<6>(rows, row),
            7 => self.sums::<7>(rows, row),
            _ => self.sums::<MOST_WORDS>(rows, row),
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
        rows: &[u8],
        row: usize,
    ) -> ([u64; MOST_WORDS + 1], [u64; MOST_WORDS + 1]) {
        let mask = |masks: &[u64; MOST_WORDS]| core::array::from_fn::<u64, N, _>(|word| masks[word]);
        let (all_bits, other_bits) = (mask(&self.all), mask(&self.others));
        let (mut all, mut others) = (([0; N], 0), ([0; N], 0));
        for row in rows.chunks_exact(row) {
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
