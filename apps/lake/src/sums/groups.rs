//! Adds rows to the sums of their groups.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray as _, BooleanArray, Int64Array, LargeBinaryArray, LargeBinaryBuilder,
};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use sotto_wire::{MaskName, SumsAnswer};

use super::bodies::Bodies;
use super::group::{Group, Named, Piece};
use super::shape::Shape;
use super::state;
use super::streams::{Counts, Streams};
use crate::LakeError;

/// The sums of groups.
pub(super) struct Groups {
    streams: Streams,
    groups: Vec<Group>,
    is_weighted: bool,
    shape: Shape,
    bytes: usize,
}

impl std::fmt::Debug for Groups {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "sums of {} groups", self.groups.len())
    }
}

impl Groups {
    pub(super) fn new(channel: Option<String>, is_weighted: bool) -> Self {
        Self {
            streams: Streams::new(channel),
            groups: Vec::new(),
            is_weighted,
            shape: Shape::default(),
            bytes: 0,
        }
    }

    fn grow(&mut self, groups: usize) {
        if self.groups.len() < groups {
            self.groups.resize_with(groups, Group::default);
        }
    }

    fn update(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
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
        self.grow(total);
        let counts = |row: usize| {
            !bodies.is_null(row) && filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
        };
        let mut row = 0;
        while row < bodies.rows() {
            if !counts(row) {
                row += 1;
                continue;
            }
            let stream = self.streams.number(bodies.header(row))?;
            let weight = weight(weights, row)?;
            let group = groups.get(row).copied().unwrap_or_default();
            if !bodies.rolled(row).is_empty() {
                self.add_rolled(&bodies, row, (group, stream), weight)?;
                row += 1;
                continue;
            }
            let capacity = self.streams.get(stream)?.capacity;
            let goes_on = |next: &usize| {
                counts(*next)
                    && groups.get(*next) == groups.get(row)
                    && bodies.has_header_of(row, *next)
                    && bodies.rolled(*next).is_empty()
                    && bodies.number(*next) / capacity == bodies.number(row) / capacity
                    && bodies.form(*next) == bodies.form(row)
                    && bodies.replaced(*next) == bodies.replaced(row)
                    && weights.is_none_or(|weights| !weights.is_null(*next) && weights.value(*next) == weight)
            };
            let end = row + 1 + (row + 1..bodies.rows()).take_while(goes_on).count();
            if self.streams.counts(stream, bodies.number(row), bodies.replaced(row))? == Counts::Wholly {
                self.add(&bodies, row..end, (group, stream), weight)?;
            }
            row = end;
        }
        Ok(())
    }

    /// Adds windows of equal lengths and counts.
    fn add(
        &mut self,
        bodies: &Bodies<'_>,
        range: Range<usize>,
        (group, stream): (usize, usize),
        weight: i64,
    ) -> Result<(), LakeError> {
        let of = self.streams.get(stream)?;
        let rows = self.shape.rows(bodies, range.clone(), (stream, of))?;
        let Some(group) = self.groups.get_mut(group) else { return Ok(()) };
        let sum = group.of(stream, Piece::of(of, bodies.number(range.start)), of.parts.len());
        let before = sum.bytes();
        sum.add(of, &rows, weight)?;
        for row in range {
            let pads = MaskName { salt: bodies.salt(row)?, sequence: bodies.pad(row) };
            sum.name(Named { number: bodies.number(row), windows: 1, pads }, weight.unsigned_abs());
        }
        self.bytes = (self.bytes + sum.bytes()).saturating_sub(before);
        Ok(())
    }

    /// Adds a sum that stays in place of windows.
    fn add_rolled(
        &mut self,
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
        let Some(group) = self.groups.get_mut(group) else { return Ok(()) };
        let sum = group.of(stream, piece, of.parts.len());
        let before = sum.bytes();
        sum.add_sum(of, kept, weight)?;
        for (number, pads) in numbers.zip(answer.names.iter()) {
            sum.name(Named { number, windows: 1, pads }, weight.unsigned_abs());
        }
        self.bytes = (self.bytes + sum.bytes()).saturating_sub(before);
        Ok(())
    }

    fn emit(&mut self, emit_to: EmitTo) -> Vec<Group> {
        let groups = emit_to.take_needed(&mut self.groups);
        let freed = groups.iter().flat_map(|group| &group.streams).map(|sum| sum.bytes()).sum();
        self.bytes = self.bytes.saturating_sub(freed);
        groups
    }

    fn frames(&mut self, emit_to: EmitTo) -> Result<LargeBinaryArray, LakeError> {
        let mut builder = LargeBinaryBuilder::new();
        for group in self.emit(emit_to) {
            builder.append_option(group.frames(&self.streams)?);
        }
        Ok(builder.finish())
    }

    fn states(&mut self, emit_to: EmitTo) -> Result<LargeBinaryArray, LakeError> {
        let (mut builder, mut state) = (LargeBinaryBuilder::new(), Vec::new());
        for group in self.emit(emit_to) {
            state.clear();
            state::write(group, &self.streams, &mut state)?;
            builder.append_value(&state);
        }
        Ok(builder.finish())
    }

    fn merge(&mut self, states: &ArrayRef, groups: &[usize], total: usize) -> Result<(), LakeError> {
        self.grow(total);
        let states = states.as_any().downcast_ref::<LargeBinaryArray>();
        let states =
            states.ok_or_else(|| LakeError::Sum("a sum that is not complete is bytes".to_owned()))?;
        for (state, number) in states.iter().zip(groups) {
            if let (Some(state), Some(group)) = (state, self.groups.get_mut(*number)) {
                state::merge(state, group, &mut self.streams)?;
                self.bytes += state.len();
            }
        }
        Ok(())
    }
}

fn weight(weights: Option<&Int64Array>, row: usize) -> Result<i64, LakeError> {
    match weights {
        None => Ok(1),
        Some(weights) if weights.is_null(row) => Err(LakeError::Sum("a weight is missing".to_owned())),
        Some(weights) => Ok(weights.value(row)),
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        Ok(self.update(values, group_indices, opt_filter, total_num_groups)?)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        Ok(Arc::new(self.frames(emit_to)?))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(self.states(emit_to)?)])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total: usize) -> Result<()> {
        values.first().map_or(Ok(()), |states| Ok(self.merge(states, group_indices, total)?))
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |values| values.len());
        let each: Vec<usize> = (0..rows).collect();
        let mut groups = Self::new(self.streams.channel().map(str::to_owned), self.is_weighted);
        groups.update(values, &each, opt_filter, rows)?;
        Ok(vec![Arc::new(groups.states(EmitTo::All)?)])
    }

    fn size(&self) -> usize {
        self.bytes + self.groups.capacity() * size_of::<Group>()
    }
}

/// One group: sums without GROUP BY.
impl Accumulator for Groups {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = values.first().map_or(0, |values| values.len());
        Ok(self.update(values, &vec![0; rows], None, 1)?)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.grow(1);
        let frame = self.frames(EmitTo::All)?;
        Ok(ScalarValue::LargeBinary(frame.iter().next().flatten().map(<[u8]>::to_vec)))
    }

    fn size(&self) -> usize {
        GroupsAccumulator::size(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.grow(1);
        let states = self.states(EmitTo::All)?;
        Ok(vec![ScalarValue::LargeBinary(states.iter().next().flatten().map(<[u8]>::to_vec))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(states) = states.first() else { return Ok(()) };
        Ok(self.merge(states, &vec![0; states.len()], 1)?)
    }
}
