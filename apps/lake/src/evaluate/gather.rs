//! Gathers the ciphertexts of groups.

use datafusion::arrow::array::{Array, ArrayRef, AsArray as _};
use datafusion::arrow::datatypes::Int64Type;

use super::evaluations::blocking;
use crate::LakeError;
use crate::ciphertexts::{Shared, Stored, Values};
use crate::grouped::{Aggregate, Groups, Rows};

/// A function of the ciphertexts of a group.
pub(super) trait Gather: Send + Sync + Sized + 'static {
    const NAME: &'static str;
    /// True if its second argument is the order of the ciphertexts.
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

/// Such a function, with names of ciphertexts that its groups share.
pub(super) struct Gathered<G> {
    function: G,
    shared: Shared,
}

impl<G: Gather> Gathered<G> {
    pub(super) fn new(function: G) -> Self {
        Self { function, shared: Shared::default() }
    }

    fn add(
        &mut self,
        groups: &mut Groups<G::Group>,
        values: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<(), LakeError> {
        let orders = match G::IS_ORDERED {
            true => values.get(1).and_then(|orders| orders.as_primitive_opt::<Int64Type>()),
            false => None,
        };
        let values = Values::of(values.first())?;
        for row in (0..values.rows()).filter(|row| rows.has(*row)) {
            let Some(stored) = values.row(row, &mut self.shared)? else { continue };
            let order = match orders {
                Some(orders) if orders.is_null(row) => {
                    return Err(stored.refused(&"its place in the order is missing"));
                }
                Some(orders) => orders.value(row),
                None => 0,
            };
            let Some(group) = groups.group(rows.group(row)) else { continue };
            let before = G::bytes(group);
            self.function.add(group, order, stored)?;
            let now = G::bytes(group);
            groups.note(before, now);
        }
        Ok(())
    }
}

impl<G: Gather> Aggregate for Gathered<G> {
    type Group = G::Group;

    fn again(&self) -> Self {
        Self::new(self.function.again())
    }

    fn update(
        &mut self,
        groups: &mut Groups<G::Group>,
        values: &[ArrayRef],
        rows: &Rows<'_>,
    ) -> Result<(), LakeError> {
        if G::READS { blocking(|| self.add(groups, values, rows)) } else { self.add(groups, values, rows) }
    }

    fn merge(&mut self, group: &mut G::Group, state: &[u8]) -> Result<(), LakeError> {
        self.function.merge(group, state)
    }

    fn state(&self, group: G::Group) -> Result<Vec<u8>, LakeError> {
        self.function.state(group)
    }

    fn finish(&self, groups: Vec<G::Group>) -> Result<Vec<Option<Vec<u8>>>, LakeError> {
        self.function.finish(groups)
    }

    fn bytes(group: &G::Group) -> usize {
        G::bytes(group)
    }
}
