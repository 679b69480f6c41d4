//! Gathers ciphertexts by group, as DataFusion calls it.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray as _, BooleanArray, LargeBinaryArray, LargeBinaryBuilder,
};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

use super::evaluations::blocking;
use crate::LakeError;
use crate::ciphertexts::{Shared, Stored, Values};

/// A function of the ciphertexts of a group.
pub(super) trait Gather: Send + Sync + Sized + 'static {
    /// The name, and true if its second argument is the order of the ciphertexts.
    const NAME: &'static str;
    const IS_ORDERED: bool;
    /// True if it reads files before a group is complete.
    const READS: bool;
    /// A group that is not complete.
    type Group: Default + Send + Sync;

    /// Returns the function without groups.
    fn again(&self) -> Self;

    /// Adds a ciphertext.
    fn add(&mut self, group: &mut Self::Group, order: i64, stored: Stored) -> Result<(), LakeError>;

    /// Adds a state.
    fn merge(&mut self, group: &mut Self::Group, state: &[u8]) -> Result<(), LakeError>;

    /// Returns the state of a group: between threads, workers, and on a disk.
    fn state(&self, group: Self::Group) -> Result<Vec<u8>, LakeError>;

    /// Returns the results of groups that are complete; None for one without ciphertexts.
    fn finish(&self, groups: Vec<Self::Group>) -> Result<Vec<Option<Vec<u8>>>, LakeError>;

    /// Returns the bytes of a group in memory.
    fn bytes(group: &Self::Group) -> usize;
}

/// The groups of a function.
pub(super) struct Grouped<G: Gather> {
    function: G,
    groups: Vec<G::Group>,
    shared: Shared,
    bytes: usize,
}

impl<G: Gather> Debug for Grouped<G> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {} groups", G::NAME, self.groups.len())
    }
}

impl<G: Gather> Grouped<G> {
    pub(super) fn new(function: G) -> Self {
        Self { function, groups: Vec::new(), shared: Shared::default(), bytes: 0 }
    }

    fn grow(&mut self, groups: usize) {
        if self.groups.len() < groups {
            self.groups.resize_with(groups, G::Group::default);
        }
    }

    fn update(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<(), LakeError> {
        self.grow(total);
        if G::READS {
            blocking(|| self.add(values, groups, filter))
        } else {
            self.add(values, groups, filter)
        }
    }

    fn add(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
    ) -> Result<(), LakeError> {
        let orders = match G::IS_ORDERED {
            true => values.get(1).and_then(|orders| orders.as_primitive_opt::<Int64Type>()),
            false => None,
        };
        let values = Values::of(values.first())?;
        for row in 0..values.rows() {
            if filter.is_some_and(|filter| filter.is_null(row) || !filter.value(row)) {
                continue;
            }
            let Some(stored) = values.row(row, &mut self.shared)? else { continue };
            let order = match orders {
                Some(orders) if orders.is_null(row) => {
                    return Err(stored.refused(&"its place in the order is missing"));
                }
                Some(orders) => orders.value(row),
                None => 0,
            };
            let number = groups.get(row).copied().unwrap_or_default();
            let Some(group) = self.groups.get_mut(number) else { continue };
            let before = G::bytes(group);
            self.function.add(group, order, stored)?;
            self.bytes = (self.bytes + G::bytes(group)).saturating_sub(before);
        }
        Ok(())
    }

    fn emit(&mut self, emit_to: EmitTo) -> Vec<G::Group> {
        let groups = emit_to.take_needed(&mut self.groups);
        self.bytes = self.groups.iter().map(G::bytes).sum();
        groups
    }

    fn results(&mut self, emit_to: EmitTo) -> Result<LargeBinaryArray, LakeError> {
        let groups = self.emit(emit_to);
        Ok(self.function.finish(groups)?.into_iter().collect())
    }

    fn states(&mut self, emit_to: EmitTo) -> Result<LargeBinaryArray, LakeError> {
        let mut builder = LargeBinaryBuilder::new();
        for group in self.emit(emit_to) {
            builder.append_value(self.function.state(group)?);
        }
        Ok(builder.finish())
    }

    fn merge(&mut self, states: Option<&ArrayRef>, groups: &[usize], total: usize) -> Result<(), LakeError> {
        self.grow(total);
        let Some(states) = states else { return Ok(()) };
        let torn = || LakeError::Evaluation("a group that is not complete is damaged".to_owned());
        let states = states.as_binary_opt::<i64>().ok_or_else(torn)?;
        for (state, number) in states.iter().zip(groups) {
            let (Some(state), Some(group)) = (state, self.groups.get_mut(*number)) else { continue };
            let before = G::bytes(group);
            self.function.merge(group, state)?;
            self.bytes = (self.bytes + G::bytes(group)).saturating_sub(before);
        }
        Ok(())
    }
}

impl<G: Gather> GroupsAccumulator for Grouped<G> {
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
        Ok(Arc::new(self.results(emit_to)?))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(self.states(emit_to)?)])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total: usize) -> Result<()> {
        Ok(self.merge(values.first(), group_indices, total)?)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |values| values.len());
        let each: Vec<usize> = (0..rows).collect();
        let mut groups = Self::new(self.function.again());
        groups.update(values, &each, opt_filter, rows)?;
        Ok(vec![Arc::new(groups.states(EmitTo::All)?)])
    }

    fn size(&self) -> usize {
        self.bytes + self.groups.capacity() * size_of::<G::Group>()
    }
}

/// One group: a function without GROUP BY.
impl<G: Gather> Accumulator for Grouped<G> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = values.first().map_or(0, |values| values.len());
        Ok(self.update(values, &vec![0; rows], None, 1)?)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.grow(1);
        let results = self.results(EmitTo::All)?;
        Ok(ScalarValue::LargeBinary(results.iter().next().flatten().map(<[u8]>::to_vec)))
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
        let rows = states.first().map_or(0, |states| states.len());
        Ok(self.merge(states.first(), &vec![0; rows], 1)?)
    }
}
