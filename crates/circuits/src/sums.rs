//! Sums of neighbouring slots by rotating and adding (Halevi and Shoup, CRYPTO 2014, ePrint 2014/106, section 4.1):
//! sums of 2, 4, 8 … neighbours, combined by the binary digits of the size.

use crate::error::CircuitError;
use crate::machine::{Machine, require_keys};

/// Returns the steps of the rotations of [`sum_block`].
pub fn block_steps(size: usize) -> Vec<i32> {
    let mut steps: Vec<i32> = turns(size).into_iter().flat_map(Turn::steps).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// Returns the steps of the rotations of [`sum_row`] for a row of this many slots. [`sum_all`] also swaps the rows
/// (step 0) if there are two.
pub fn row_steps(columns: usize) -> Vec<i32> {
    block_steps(columns)
}

/// One binary digit of the size. Each slot holds the sum of `reach` neighbours.
struct Turn {
    /// Slots that the doubled sum covers so far.
    reach: usize,
    /// If the digit is 1: slots that the result covers before it.
    covered: Option<usize>,
    /// True if a longer doubled sum is needed.
    doubles: bool,
}

impl Turn {
    fn steps(self) -> impl Iterator<Item = i32> {
        let joined = self.covered.filter(|covered| *covered > 0);
        let doubled = self.doubles.then_some(self.reach);
        joined.into_iter().chain(doubled).map(|step| step as i32)
    }
}

fn turns(size: usize) -> Vec<Turn> {
    let mut covered = 0;
    let bits = usize::BITS - size.leading_zeros();
    (0..bits)
        .map(|bit| {
            let reach = 1 << bit;
            let turn =
                Turn { reach, covered: (size & reach != 0).then_some(covered), doubles: bit + 1 < bits };
            covered += size & reach;
            turn
        })
        .collect()
}

/// Returns in every slot the sum of that slot and its `size` − 1 neighbours to the right, cyclically: the first slot of
/// a block of `size` slots holds the block's sum. Cost: ⌊log2 size⌋ rotations and one more for each further digit 1.
///
/// # Errors
/// [`CircuitError::Block`] unless 1 ≤ `size` ≤ the slots of a row; [`CircuitError::MissingKeys`] for [`block_steps`].
pub fn sum_block<M: Machine>(machine: &mut M, a: &M::Vector, size: usize) -> Result<M::Vector, CircuitError> {
    let row = machine.slots().1;
    if size == 0 || size > row {
        return Err(CircuitError::Block { size, row });
    }
    require_keys(machine, &block_steps(size))?;
    let mut doubled = machine.copy(a);
    let mut total: Option<M::Vector> = None;
    for turn in turns(size) {
        match (total.take(), turn.covered) {
            (Some(sum), Some(covered)) => {
                let moved = machine.rotate(&doubled, covered as i32)?;
                total = Some(machine.add(&sum, &moved)?);
                machine.recycle(sum);
                machine.recycle(moved);
            }
            (None, Some(_)) => total = Some(machine.copy(&doubled)),
            (sum, None) => total = sum,
        }
        if turn.doubles {
            let moved = machine.rotate(&doubled, turn.reach as i32)?;
            let longer = machine.add(&doubled, &moved)?;
            machine.recycle(moved);
            machine.recycle(core::mem::replace(&mut doubled, longer));
        }
    }
    machine.recycle(doubled);
    total.ok_or(CircuitError::Block { size, row })
}

/// Returns in every slot the sum of its row.
///
/// # Errors
/// [`CircuitError::MissingKeys`] for [`row_steps`].
pub fn sum_row<M: Machine>(machine: &mut M, a: &M::Vector) -> Result<M::Vector, CircuitError> {
    let columns = machine.slots().1;
    sum_block(machine, a, columns)
}

/// Returns in every slot the sum of all slots of all rows.
///
/// # Errors
/// [`CircuitError::MissingKeys`] for [`row_steps`], and for the row swap (0) if there are two rows.
pub fn sum_all<M: Machine>(machine: &mut M, a: &M::Vector) -> Result<M::Vector, CircuitError> {
    let (rows, columns) = machine.slots();
    let mut steps = row_steps(columns);
    steps.extend((rows == 2).then_some(0));
    require_keys(machine, &steps)?;
    let row = sum_row(machine, a)?;
    if rows == 1 {
        return Ok(row);
    }
    let other = machine.swap_rows(&row)?;
    let all = machine.add(&row, &other)?;
    machine.recycle(row);
    machine.recycle(other);
    Ok(all)
}
