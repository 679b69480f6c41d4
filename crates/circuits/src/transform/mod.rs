//! Linear transforms by a public matrix. The diagonals are multiplied with rotations of the operand (Halevi and Shoup,
//! CRYPTO 2014, ePrint 2014/106, section 4.3), in giant steps and hoisted baby steps (Halevi and Shoup, CRYPTO 2018,
//! ePrint 2018/244, sections 4 and 5). A matrix with fewer rows than columns has diagonals as long as its rows, and the
//! parts of each entry are summed at the end (Juvekar, Vaikuntanathan and Chandrakasan, "Gazelle", ePrint 2018/073,
//! section 4.3).
//!
//! Row i, column j of the matrix is the weight of entry j of the operand in entry i of the result. Entry j is in every
//! slot c of a row with c mod (columns) = j: a vector is repeated along the row. The result is repeated in the same way
//! with the number of matrix rows, and each of the two rows of BFV and BGV is transformed separately.

mod steps;

use std::collections::BTreeMap;

use crate::error::CircuitError;
use crate::machine::{Machine, Number, require_keys, require_levels};
use steps::{Steps, best};

/// A public matrix, decomposed into diagonals.
///
/// ```
/// use sotto_circuits::{Clear, PreparedTransform, Transform};
///
/// let mut machine = Clear::integers(65_537, 1, 4);
/// // Differences and sums of neighbours, of a vector repeated along the row.
/// let transform = Transform::new(&[1, -1, 1, 1], 2, 2, 4)?;
/// let readings = vec![215, 198, 215, 198];
/// assert_eq!(transform.apply(&mut machine, &readings)?, [17, 413, 17, 413]);
/// // For many vectors, the diagonals are encoded once.
/// let prepared: PreparedTransform<_> = transform.prepare(&mut machine, 0)?;
/// assert_eq!(prepared.apply(&mut machine, &readings)?[..2], [17, 413]);
/// # Ok::<(), sotto_circuits::CircuitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Transform<V> {
    /// The non-zero diagonals. Number k weighs the operand rotated by k. Each is as long as the period.
    diagonals: BTreeMap<usize, Vec<V>>,
    steps: Steps,
    /// Steps of the rotations that sum the parts of each entry.
    folds: Vec<i32>,
    /// Slots of a row.
    row: usize,
}

/// A transform prepared for one level, to be applied any number of times.
///
/// Example: [`Transform`]
#[derive(Debug)]
pub struct PreparedTransform<P> {
    level: usize,
    /// For each giant step, the baby steps and their prepared diagonals.
    giants: Vec<(usize, Vec<(usize, P)>)>,
    babies: Vec<i32>,
    folds: Vec<i32>,
}

impl<V: Number> Transform<V> {
    /// Decomposes a matrix, given row by row, for slot rows of `row` slots. Chooses the number of baby steps with the
    /// fewest rotations; at a tie more baby than giant steps, since hoisted rotations share their decomposition.
    ///
    /// # Errors
    /// [`CircuitError::Matrix`] unless rows and columns are powers of two, at most `row`; [`CircuitError::Entries`]
    /// unless there are rows times columns entries.
    pub fn new(entries: &[V], rows: usize, columns: usize, row: usize) -> Result<Self, CircuitError> {
        let fits = |size: usize| size.is_power_of_two() && size <= row;
        if !fits(rows) || !fits(columns) || !row.is_power_of_two() {
            return Err(CircuitError::Matrix { rows, columns, row });
        }
        if entries.len() != rows * columns {
            return Err(CircuitError::Entries { expected: rows * columns, found: entries.len() });
        }
        let (count, period) = (rows.min(columns), rows.max(columns));
        let entry = |i: usize, j: usize| entries[(i % rows) * columns + j % columns];
        let diagonals: BTreeMap<usize, Vec<V>> = (0..count)
            .map(|k| (k, (0..period).map(|i| entry(i, i + k)).collect::<Vec<V>>()))
            .filter(|(_, diagonal)| diagonal.iter().any(|v| *v != V::default()))
            .collect();
        let numbers: Vec<usize> = diagonals.keys().copied().collect();
        let steps = best(&numbers, count);
        let folds =
            core::iter::successors(Some(rows), |step| Some(2 * step)).take_while(|step| *step < columns);
        let folds = folds.map(|step| step as i32).collect();
        Ok(Self { diagonals, steps, folds, row })
    }

    /// Returns the steps of the rotations, ascending. Their Galois keys are needed.
    pub fn steps(&self) -> Vec<i32> {
        let mut steps: Vec<i32> = self.steps.babies.iter().chain(&self.steps.giants).copied().collect();
        steps.extend(&self.folds);
        steps.retain(|step| *step != 0);
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// Returns the number of rotations of one application.
    pub fn rotations(&self) -> usize {
        let turns = |steps: &[i32]| steps.iter().filter(|step| **step != 0).count();
        turns(&self.steps.babies) + turns(&self.steps.giants) + self.folds.len()
    }

    /// Encodes the diagonals for a level.
    ///
    /// # Errors
    /// [`sotto_rlwe::EvalError::Transparent`] for the zero matrix; [`CircuitError::Matrix`] for a machine with rows of
    /// another length; the errors of encoding.
    pub fn prepare<M: Machine<Value = V>>(
        &self,
        machine: &mut M,
        level: usize,
    ) -> Result<PreparedTransform<M::Multiplier>, CircuitError> {
        let (rows, row) = machine.slots();
        if row != self.row {
            return Err(CircuitError::Matrix { rows: 1, columns: self.row, row });
        }
        let mut giants: BTreeMap<usize, Vec<(usize, M::Multiplier)>> = BTreeMap::new();
        for (k, diagonal) in &self.diagonals {
            let (baby, giant) = (k % self.steps.size, k - k % self.steps.size);
            // Compensates the giant step, which rotates the product afterwards.
            let slot = |c: usize| diagonal[(c % row + row - giant) % diagonal.len()];
            let values: Vec<V> = (0..rows * row).map(slot).collect();
            giants.entry(giant).or_default().push((baby, machine.prepare(&values, level)?));
        }
        if giants.is_empty() {
            return Err(sotto_rlwe::EvalError::Transparent.into());
        }
        let babies = self.steps.babies.iter().copied().filter(|step| *step != 0).collect();
        Ok(PreparedTransform {
            level,
            giants: giants.into_iter().collect(),
            babies,
            folds: self.folds.clone(),
        })
    }

    /// Prepares for the operand's level and applies once. Cost: one level and [`Transform::rotations`].
    ///
    /// # Errors
    /// As [`Transform::prepare`] and [`PreparedTransform::apply`].
    pub fn apply<M: Machine<Value = V>>(
        &self,
        machine: &mut M,
        a: &M::Vector,
    ) -> Result<M::Vector, CircuitError> {
        require_keys(machine, &self.steps())?;
        require_levels(machine, a, 1)?;
        self.prepare(machine, machine.level(a))?.apply(machine, a)
    }
}

impl<P> PreparedTransform<P> {
    /// Returns the level of preparation.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Returns the matrix times the vector in `a`, which must be at the level of preparation.
    ///
    /// # Errors
    /// [`CircuitError::MissingKeys`], [`CircuitError::Levels`] and [`CircuitError::Prepared`], all before the first
    /// operation.
    pub fn apply<M: Machine<Multiplier = P>>(
        &self,
        machine: &mut M,
        a: &M::Vector,
    ) -> Result<M::Vector, CircuitError> {
        let giants = self.giants.iter().map(|(giant, _)| *giant as i32).filter(|giant| *giant != 0);
        let steps: Vec<i32> = self.babies.iter().copied().chain(giants).chain(self.folds.clone()).collect();
        require_keys(machine, &steps)?;
        require_levels(machine, a, 1)?;
        if machine.level(a) != self.level {
            return Err(CircuitError::Prepared { prepared: self.level, found: machine.level(a) });
        }
        let turned = machine.rotate_many(a, &self.babies)?;
        let rotated: BTreeMap<usize, &M::Vector> =
            self.babies.iter().map(|step| *step as usize).zip(&turned).chain([(0, a)]).collect();
        let mut total: Option<M::Vector> = None;
        for (giant, diagonals) in &self.giants {
            let terms: Vec<_> = diagonals.iter().map(|(baby, diagonal)| (rotated[baby], diagonal)).collect();
            let mut part = machine.sum_of_prepared(&terms)?;
            if *giant != 0 {
                let moved = machine.rotate(&part, *giant as i32)?;
                machine.recycle(core::mem::replace(&mut part, moved));
            }
            total = Some(join(machine, total, part)?);
        }
        turned.into_iter().for_each(|vector| machine.recycle(vector));
        let mut sum = total.ok_or(CircuitError::Empty("a transform"))?;
        for step in &self.folds {
            let moved = machine.rotate(&sum, *step)?;
            sum = join(machine, Some(sum), moved)?;
        }
        Ok(sum)
    }
}

fn join<M: Machine>(
    machine: &mut M,
    total: Option<M::Vector>,
    part: M::Vector,
) -> Result<M::Vector, CircuitError> {
    let Some(total) = total else { return Ok(part) };
    let sum = machine.add(&total, &part)?;
    machine.recycle(total);
    machine.recycle(part);
    Ok(sum)
}
