//! Gathers the ciphertexts of groups.

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _};
use datafusion::arrow::datatypes::Int64Type;

use crate::LakeError;
use crate::ciphertexts::{Shared, Stored, Values};
use crate::grouped::{Aggregate, Groups, Rows};

/// Adds the ciphertexts of rows to their groups by `add`. `orders` are their places in the order, if the function has one.
pub(super) fn gather<A: Aggregate>(
    groups: &mut Groups<A::Group>,
    (ciphertexts, orders): (Option<&ArrayRef>, Option<&ArrayRef>),
    rows: &Rows<'_>,
    shared: &mut Shared,
    mut add: impl FnMut(&mut A::Group, i64, Stored) -> Result<(), LakeError>,
) -> Result<(), LakeError> {
    let orders = orders.and_then(|orders| orders.as_primitive_opt::<Int64Type>());
    let ciphertexts = Values::of(ciphertexts)?;
    for row in (0..ciphertexts.rows()).filter(|row| rows.has(*row)) {
        let Some(stored) = ciphertexts.row(row, shared)? else { continue };
        let order = match orders {
            Some(orders) if orders.is_null(row) => {
                return Err(stored.refused(&"its place in the order is missing"));
            }
            Some(orders) => orders.value(row),
            None => 0,
        };
        let Some(group) = groups.group(rows.group(row)) else { continue };
        let before = A::bytes(group);
        add(group, order, stored)?;
        let now = A::bytes(group);
        groups.note(before, now);
    }
    Ok(())
}
