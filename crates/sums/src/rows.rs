//! Sums of many bodies that lie one behind the other.

use alloc::vec::Vec;

use crate::bits::bits_at;
use crate::field::Residue;
use crate::form::{Form, Positioned};
use crate::tag::{PartError, TAG_BYTES, Tag};

/// Adds the rows of a table, each a body and a tag: the columns modulo 2^64, and the tag.
pub(crate) fn add(form: &Form<'_>, ticks: u32, rows: &[u8]) -> Result<(Vec<u64>, Residue), PartError> {
    let (body, places) = (form.body_bytes(ticks), form.walk(ticks).collect::<Vec<_>>());
    let padding = match form.free_bits(ticks) {
        0 => 0,
        free => 0xff_u8 << (8 - free),
    };
    let (mut columns, mut tags) = (vec![0; places.len()], 0_u128);
    let words = places.iter().all(|at| at.place.width() == 32);
    let mut halves = vec![0_u32; if words { places.len() } else { 0 }];
    for row in rows.chunks_exact(body + TAG_BYTES) {
        let (row, tag) = row.split_at(body);
        if row.last().is_some_and(|last| last & padding != 0) {
            return Err(PartError::Padding);
        }
        // TAG_BYTES are left of each row.
        let tag = tag.first_chunk().map_or(Err(PartError::Tag), Tag::from_bytes)?;
        tags += u128::from(tag.0.value());
        if words {
            halves.iter_mut().zip(row.as_chunks().0).for_each(|(sum, word)| {
                *sum = sum.wrapping_add(u32::from_le_bytes(*word));
            });
        } else {
            add_row(&mut columns, &places, row);
        }
    }
    columns.iter_mut().zip(halves).for_each(|(column, half)| *column = half.into());
    Ok((columns, residue(tags)))
}

fn add_row(columns: &mut [u64], places: &[Positioned], row: &[u8]) {
    for (column, at) in columns.iter_mut().zip(places) {
        *column = column.wrapping_add(bits_at(row, at.bit, at.place.width()));
    }
}

/// Returns a sum of fewer than 2^64 tags modulo P; 2^61 is 1.
fn residue(sum: u128) -> Residue {
    let low = Residue::from_word(sum as u64);
    let high = Residue::from_public((sum >> 61) as i64 & i64::MAX);
    low.plus(high)
}
