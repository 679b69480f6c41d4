//! Aggregate functions of groups, as DataFusion calls them.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray as _, BooleanArray, LargeBinaryArray, LargeBinaryBuilder,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

use crate::LakeError;

/// An aggregate function, whose results and states are bytes.
pub(crate) trait Aggregate: Send + Sync + Sized + 'static {
    /// A group that is not complete.
    type Group: Default + Send + Sync;

    /// Returns the function without groups.
    fn again(&self) -> Self;

    /// Adds rows to their groups.
    fn update(
        &mut self,
        groups: &mut Groups<Self::Group>,
        values: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<(), LakeError>;

    /// Adds a state to a group. Returns the bytes on the heap by which it grew.
    fn merge(&mut self, group: &mut Self::Group, state: &[u8]) -> Result<usize, LakeError>;

    /// Returns the state of a group: between threads, workers, and on a disk.
    fn state(&self, group: Self::Group) -> Result<Vec<u8>, LakeError>;

    /// Returns the results of groups that are complete; None for one without a row.
    fn finish(&self, groups: Vec<Self::Group>) -> Result<Vec<Option<Vec<u8>>>, LakeError>;

    /// Returns the bytes of a group on the heap.
    fn bytes(group: &Self::Group) -> usize;
}

/// The rows of a batch.
pub(crate) struct Rows<'r> {
    /// The group of each; one group if there are none.
    groups: &'r [usize],
    filter: Option<&'r BooleanArray>,
}

impl Rows<'_> {
    /// Returns the group of a row.
    pub(crate) fn group(&self, row: usize) -> usize {
        self.groups.get(row).copied().unwrap_or_default()
    }

    /// Returns true if the query does not leave a row out.
    pub(crate) fn has(&self, row: usize) -> bool {
        self.filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
    }
}

/// Groups, and their bytes on the heap.
pub(crate) struct Groups<G> {
    all: Vec<G>,
    bytes: usize,
}

impl<G: Default> Groups<G> {
    fn grow(&mut self, groups: usize) {
        if self.all.len() < groups {
            self.all.resize_with(groups, G::default);
        }
    }

    pub(crate) fn group(&mut self, number: usize) -> Option<&mut G> {
        self.all.get_mut(number)
    }

    /// Notes that a group, or a part of one, has changed its bytes.
    pub(crate) fn note(&mut self, before: usize, now: usize) {
        self.bytes = (self.bytes + now).saturating_sub(before);
    }
}

/// An aggregate function with its groups.
pub(crate) struct Grouped<A: Aggregate> {
    function: A,
    groups: Groups<A::Group>,
}

impl<A: Aggregate> Debug for Grouped<A> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} groups", self.groups.all.len())
    }
}

impl<A: Aggregate> Grouped<A> {
    pub(crate) fn new(function: A) -> Self {
        Self { function, groups: Groups { all: Vec::new(), bytes: 0 } }
    }

    fn update(&mut self, values: &[ArrayRef], rows: &Rows<'_>, total: usize) -> Result<(), LakeError> {
        self.groups.grow(total);
        self.function.update(&mut self.groups, values, rows)
    }

    fn emit(&mut self, emit_to: EmitTo) -> Vec<A::Group> {
        let groups = emit_to.take_needed(&mut self.groups.all);
        self.groups.note(groups.iter().map(A::bytes).sum(), 0);
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

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize], total: usize) -> Result<(), LakeError> {
        self.groups.grow(total);
        let Some(states) = states.first() else { return Ok(()) };
        let states = states.as_binary_opt::<i64>();
        let states =
            states.ok_or_else(|| LakeError::Plan("a group that is not complete is bytes".to_owned()))?;
        let rows = Rows { groups, filter: None };
        for (row, state) in states.iter().enumerate() {
            let (Some(state), Some(group)) = (state, self.groups.all.get_mut(rows.group(row))) else {
                continue;
            };
            let grown = self.function.merge(group, state)?;
            self.groups.note(0, grown);
        }
        Ok(())
    }
}

impl<A: Aggregate> GroupsAccumulator for Grouped<A> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        let rows = Rows { groups: group_indices, filter: opt_filter };
        Ok(self.update(values, &rows, total_num_groups)?)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        Ok(Arc::new(self.results(emit_to)?))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(self.states(emit_to)?)])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total: usize) -> Result<()> {
        Ok(self.merge(values, group_indices, total)?)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |values| values.len());
        let each: Vec<usize> = (0..rows).collect();
        let mut groups = Self::new(self.function.again());
        groups.update(values, &Rows { groups: &each, filter: opt_filter }, rows)?;
        Ok(vec![Arc::new(groups.states(EmitTo::All)?)])
    }

    fn size(&self) -> usize {
        self.groups.bytes + self.groups.all.capacity() * size_of::<A::Group>()
    }
}

/// One group: a function without GROUP BY.
impl<A: Aggregate> Accumulator for Grouped<A> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Ok(self.update(values, &Rows { groups: &[], filter: None }, 1)?)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.groups.grow(1);
        Ok(only(&self.results(EmitTo::All)?))
    }

    fn size(&self) -> usize {
        GroupsAccumulator::size(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.groups.grow(1);
        Ok(vec![only(&self.states(EmitTo::All)?)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        Ok(self.merge(states, &[], 1)?)
    }
}

fn only(array: &LargeBinaryArray) -> ScalarValue {
    ScalarValue::LargeBinary(array.iter().next().flatten().map(<[u8]>::to_vec))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends rows to their groups.
    struct Appended;

    impl Aggregate for Appended {
        type Group = Vec<u8>;

        fn again(&self) -> Self {
            Self
        }

        fn update(
            &mut self,
            groups: &mut Groups<Vec<u8>>,
            values: &[ArrayRef],
            rows: &Rows<'_>,
        ) -> Result<(), LakeError> {
            let values = values[0].as_binary::<i64>();
            for row in (0..values.len()).filter(|row| rows.has(*row)) {
                if let Some(group) = groups.group(rows.group(row)) {
                    let before = group.len();
                    group.extend_from_slice(values.value(row));
                    let now = group.len();
                    groups.note(before, now);
                }
            }
            Ok(())
        }

        fn merge(&mut self, group: &mut Vec<u8>, state: &[u8]) -> Result<usize, LakeError> {
            group.extend_from_slice(state);
            Ok(state.len())
        }

        fn state(&self, group: Vec<u8>) -> Result<Vec<u8>, LakeError> {
            Ok(group)
        }

        fn finish(&self, groups: Vec<Vec<u8>>) -> Result<Vec<Option<Vec<u8>>>, LakeError> {
            Ok(groups.into_iter().map(|group| (!group.is_empty()).then_some(group)).collect())
        }

        fn bytes(group: &Vec<u8>) -> usize {
            group.len()
        }
    }

    #[test]
    fn groups_are_emitted_in_parts_and_their_bytes_with_them() {
        let rows: ArrayRef = Arc::new(LargeBinaryArray::from_vec(vec![b"a", b"bb", b"ccc", b"d"]));
        let filter = BooleanArray::from(vec![true, true, true, false]);
        let mut grouped = Grouped::new(Appended);
        let groups: &mut dyn GroupsAccumulator = &mut grouped;
        groups.update_batch(&[rows], &[0, 2, 0, 1], Some(&filter), 3).unwrap();
        let states = groups.state(EmitTo::First(1)).unwrap();
        assert_eq!(states[0].as_binary::<i64>().iter().flatten().collect::<Vec<_>>(), [b"accc"]);
        assert_eq!(grouped.groups.bytes, 2);
        let groups: &mut dyn GroupsAccumulator = &mut grouped;
        groups.merge_batch(&states, &[1], 2).unwrap();
        let results = groups.evaluate(EmitTo::All).unwrap();
        let results: Vec<_> = results.as_binary::<i64>().iter().collect();
        assert_eq!(results, [None, Some(&b"bbaccc"[..])]);
        assert_eq!(grouped.groups.bytes, 0);
    }

    #[test]
    fn a_function_without_groups_has_one() {
        let mut grouped = Grouped::new(Appended);
        let one: &mut dyn Accumulator = &mut grouped;
        assert_eq!(one.evaluate().unwrap(), ScalarValue::LargeBinary(None));
        let rows: ArrayRef = Arc::new(LargeBinaryArray::from_vec(vec![b"a", b"bb"]));
        one.update_batch(&[rows]).unwrap();
        let state = one.state().unwrap();
        assert_eq!(state, [ScalarValue::LargeBinary(Some(b"abb".to_vec()))]);
        one.merge_batch(&[state[0].to_array_of_size(2).unwrap()]).unwrap();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::LargeBinary(Some(b"abbabb".to_vec())));
    }
}
