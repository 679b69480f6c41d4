//! Adds rows to the sums of their groups.

use std::ops::Range;

use datafusion::arrow::array::{Array, ArrayRef, AsArray as _, Int64Array};
use datafusion::arrow::datatypes::Int64Type;
use sotto_wire::{MaskName, SumsAnswer};

use super::bodies::Bodies;
use super::group::{Group, Named, Piece};
use super::shape::Shape;
use super::state;
use super::streams::{Counts, Streams};
use crate::LakeError;
use crate::grouped::{Aggregate, Groups, Rows};

/// Sums of windows.
pub(super) struct Sums {
    streams: Streams,
    is_weighted: bool,
    shape: Shape,
}

impl Sums {
    pub(super) fn new(channel: Option<String>, is_weighted: bool) -> Self {
        Self { streams: Streams::new(channel), is_weighted, shape: Shape::default() }
    }

    /// Adds windows of equal lengths and counts.
    fn add(
        &mut self,
        groups: &mut Groups<Group>,
        bodies: &Bodies<'_>,
        range: Range<usize>,
        (group, stream): (usize, usize),
        weight: i64,
    ) -> Result<(), LakeError> {
        let of = self.streams.get(stream)?;
        let rows = self.shape.rows(bodies, range.clone(), (stream, of))?;
        let Some(group) = groups.group(group) else { return Ok(()) };
        let sum = group.of(stream, Piece::of(of, bodies.number(range.start)), of.parts.len());
        let before = sum.bytes();
        sum.add(of, &rows, weight)?;
        for row in range {
            let pads = MaskName { salt: bodies.salt(row)?, sequence: bodies.pad(row) };
            sum.name(Named { number: bodies.number(row), windows: 1, pads }, weight.unsigned_abs());
        }
        let now = sum.bytes();
        groups.note(before, now);
        Ok(())
    }

    /// Adds a sum that stays in place of windows.
    fn add_rolled(
        &mut self,
        groups: &mut Groups<Group>,
        bodies: &Bodies<'_>,
        row: usize,
        (group, stream): (usize, usize),
        weight: i64,
    ) -> Result<(), LakeError> {
        let of = self.streams.get(stream)?;
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let runs = bodies.rolled(row).as_chunks::<8>().0.chunks_exact(2);
        let runs: Vec<(u64, u64)> = runs.map(|run| (number(&run[0]), number(&run[1]))).collect();
        let first = runs.iter().map(|(first, _)| *first).min().unwrap_or_default();
        let last = runs.iter().map(|(first, count)| first.saturating_add(count.saturating_sub(1))).max();
        let piece = Piece::of_rolled(of, (first, last.unwrap_or_default()));
        let numbers =
            runs.iter().flat_map(|(first, count)| (0..*count).map(|ahead| first.wrapping_add(ahead)));
        let frame = bodies.places(row);
        let answer = SumsAnswer::read(frame, &of.header, frame.len() as u64, u32::MAX)?;
        let [kept] = answer.sums.as_slice() else {
            return Err(LakeError::Sum("a roll-up has one sum".to_owned()));
        };
        let Some(group) = groups.group(group) else { return Ok(()) };
        let sum = group.of(stream, piece, of.parts.len());
        let before = sum.bytes();
        sum.add_sum(of, kept, weight)?;
        for (number, pads) in numbers.zip(answer.names.iter()) {
            sum.name(Named { number, windows: 1, pads }, weight.unsigned_abs());
        }
        let now = sum.bytes();
        groups.note(before, now);
        Ok(())
    }
}

impl Aggregate for Sums {
    type Group = Group;

    fn again(&self) -> Self {
        Self::new(self.streams.channel().map(str::to_owned), self.is_weighted)
    }

    fn update(
        &mut self,
        groups: &mut Groups<Group>,
        values: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<(), LakeError> {
        let (Some(bodies), Some(tags)) = (values.first(), values.get(1)) else {
            return Err(LakeError::Sum("a sum takes body and tag".to_owned()));
        };
        let bodies = Bodies::of(bodies, tags)?;
        let weights = match (self.is_weighted, values.get(2)) {
            (false, _) => None,
            (true, Some(weights)) => weights.as_primitive_opt::<Int64Type>(),
            (true, None) => return Err(LakeError::Sum("a weighted sum takes a weight".to_owned())),
        };
        let counts = |row: usize| !bodies.is_null(row) && rows.has(row);
        let mut row = 0;
        while row < bodies.rows() {
            if !counts(row) {
                row += 1;
                continue;
            }
            let stream = self.streams.number(bodies.header(row))?;
            let weight = weight(weights, row)?;
            let group = rows.group(row);
            if !bodies.rolled(row).is_empty() {
                self.add_rolled(groups, &bodies, row, (group, stream), weight)?;
                row += 1;
                continue;
            }
            let capacity = self.streams.get(stream)?.capacity;
            let goes_on = |next: &usize| {
                counts(*next)
                    && rows.group(*next) == group
                    && bodies.has_header_of(row, *next)
                    && bodies.rolled(*next).is_empty()
                    && bodies.number(*next) / capacity == bodies.number(row) / capacity
                    && bodies.form(*next) == bodies.form(row)
                    && bodies.replaced(*next) == bodies.replaced(row)
                    && weights.is_none_or(|weights| !weights.is_null(*next) && weights.value(*next) == weight)
            };
            let end = row + 1 + (row + 1..bodies.rows()).take_while(goes_on).count();
            if self.streams.counts(stream, bodies.number(row), bodies.replaced(row))? == Counts::Wholly {
                self.add(groups, &bodies, row..end, (group, stream), weight)?;
            }
            row = end;
        }
        Ok(())
    }

    fn merge(&mut self, group: &mut Group, state: &[u8]) -> Result<usize, LakeError> {
        state::merge(state, group, &mut self.streams)
    }

    fn state(&self, group: Group) -> Result<Vec<u8>, LakeError> {
        state::write(group, &self.streams)
    }

    fn finish(&self, groups: Vec<Group>) -> Result<Vec<Option<Vec<u8>>>, LakeError> {
        groups.into_iter().map(|group| group.frames(&self.streams)).collect()
    }

    fn bytes(group: &Group) -> usize {
        group.streams.iter().map(|sum| sum.bytes()).sum()
    }
}

fn weight(weights: Option<&Int64Array>, row: usize) -> Result<i64, LakeError> {
    match weights {
        None => Ok(1),
        Some(weights) if weights.is_null(row) => Err(LakeError::Sum("a weight is missing".to_owned())),
        Some(weights) => Ok(weights.value(row)),
    }
}
