//! Tables: any public function on a declared range of whole numbers, evaluated exactly in every slot.
//!
//! A function on s whole numbers is a polynomial of degree below s modulo t, a prime above s. The polynomial takes
//! ⌈log2(s − 1)⌉ products one after another: 8 for 256 steps. A value outside the range gives an arbitrary result: the
//! party that encrypts refuses it.

mod choice;
mod digits;
mod extremes;
mod interpolation;
mod ladder;
mod split;

use core::ops::RangeInclusive;

use sotto_ring::Modulus;

pub use choice::{Chosen, choose_parameters, table_chains, table_chains_with};
pub use digits::{DigitTable, TwoDigits};
pub use extremes::{extremes, maximum, minimum};

use crate::error::CircuitError;
use crate::machine::{Machine, require_levels};
use crate::polynomial::Cost;
use interpolation::interpolate;
use ladder::Ladder;
use split::Sum;

/// A public function on the whole numbers of a range.
///
/// ```
/// use sotto_circuits::{Clear, Table};
///
/// // Temperatures from −20 to 60 °C in whole degrees: is it above 25?
/// let mut machine = Clear::integers(65_537, 1, 4);
/// let warm = Table::greater(-20..=60, 25)?;
/// assert_eq!(warm.evaluate(&mut machine, &vec![-20, 25, 26, 60])?, [0, 0, 1, 1]);
/// // Any function will do: degrees that a heater has to add to reach 21 °C.
/// let missing = Table::from_fn(-20..=60, |degrees| (21 - degrees).max(0))?;
/// assert_eq!(missing.evaluate(&mut machine, &vec![-5, 20, 21, 30])?, [26, 1, 0, 0]);
/// # Ok::<(), sotto_circuits::CircuitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    first: i64,
    values: Vec<i64>,
}

impl Table {
    /// Most steps of a range: differences of two values of 256 steps each.
    pub const MOST_STEPS: usize = 511;

    /// Makes the table that has `values[i]` at `first` + i.
    ///
    /// # Errors
    /// [`CircuitError::TableRange`] for no value, or more than [`Table::MOST_STEPS`].
    pub fn new(first: i64, values: Vec<i64>) -> Result<Self, CircuitError> {
        let last = first.checked_add(values.len() as i64 - 1);
        match last {
            Some(_) if (1..=Self::MOST_STEPS).contains(&values.len()) => Ok(Self { first, values }),
            _ => Err(CircuitError::TableRange { steps: values.len(), most: Self::MOST_STEPS }),
        }
    }

    /// Makes the table of a function.
    ///
    /// # Errors
    /// [`CircuitError::TableRange`] for an empty range, or one of more than [`Table::MOST_STEPS`] steps.
    pub fn from_fn(range: RangeInclusive<i64>, function: impl Fn(i64) -> i64) -> Result<Self, CircuitError> {
        let steps = range.end().abs_diff(*range.start()).saturating_add(1);
        if range.is_empty() || steps > Self::MOST_STEPS as u64 {
            let steps = if range.is_empty() { 0 } else { usize::try_from(steps).unwrap_or(usize::MAX) };
            return Err(CircuitError::TableRange { steps, most: Self::MOST_STEPS });
        }
        Self::new(*range.start(), range.map(function).collect())
    }

    /// Makes a table that is 1 where the predicate holds, and 0 elsewhere.
    ///
    /// # Errors
    /// As [`Table::from_fn`].
    pub fn whether(
        range: RangeInclusive<i64>,
        predicate: impl Fn(i64) -> bool,
    ) -> Result<Self, CircuitError> {
        Self::from_fn(range, |x| i64::from(predicate(x)))
    }

    /// Makes the table of x > limit.
    ///
    /// # Errors
    /// As [`Table::from_fn`].
    pub fn greater(range: RangeInclusive<i64>, limit: i64) -> Result<Self, CircuitError> {
        Self::whether(range, |x| x > limit)
    }

    /// Makes the table of x ≥ limit.
    ///
    /// # Errors
    /// As [`Table::from_fn`].
    pub fn at_least(range: RangeInclusive<i64>, limit: i64) -> Result<Self, CircuitError> {
        Self::whether(range, |x| x >= limit)
    }

    /// Makes the table of x < limit.
    ///
    /// # Errors
    /// As [`Table::from_fn`].
    pub fn less(range: RangeInclusive<i64>, limit: i64) -> Result<Self, CircuitError> {
        Self::whether(range, |x| x < limit)
    }

    /// Makes the table of x ≤ limit.
    ///
    /// # Errors
    /// As [`Table::from_fn`].
    pub fn at_most(range: RangeInclusive<i64>, limit: i64) -> Result<Self, CircuitError> {
        Self::whether(range, |x| x <= limit)
    }

    /// Makes the table of x within `limits`, both ends included.
    ///
    /// # Errors
    /// As [`Table::from_fn`].
    pub fn between(range: RangeInclusive<i64>, limits: RangeInclusive<i64>) -> Result<Self, CircuitError> {
        Self::whether(range, |x| limits.contains(&x))
    }

    /// Makes the table of x = value.
    ///
    /// # Errors
    /// As [`Table::from_fn`].
    pub fn equal(range: RangeInclusive<i64>, value: i64) -> Result<Self, CircuitError> {
        Self::whether(range, |x| x == value)
    }

    /// Returns the values that can be looked up.
    pub fn range(&self) -> RangeInclusive<i64> {
        self.first..=self.first + (self.values.len() as i64 - 1)
    }

    /// Returns the values, that of the range's first number first.
    pub fn values(&self) -> &[i64] {
        &self.values
    }

    /// Returns the value at x, or None outside the range.
    pub fn value(&self, x: i64) -> Option<i64> {
        let place = usize::try_from(x.checked_sub(self.first)?).ok()?;
        self.values.get(place).copied()
    }

    /// Returns the coefficients, that of x^0 first, of the polynomial of least degree that is the table on its range, modulo
    /// a prime t above the number of steps. It is computed in O(d²) and compared with every value of the table.
    ///
    /// # Errors
    /// [`CircuitError::TableModulus`] for another modulus.
    ///
    /// ```
    /// use sotto_circuits::Table;
    ///
    /// // The squares of −1, 0 and 1, modulo 17.
    /// assert_eq!(Table::new(-1, vec![1, 0, 1])?.coefficients(17)?, [0, 0, 1]);
    /// # Ok::<(), sotto_circuits::CircuitError>(())
    /// ```
    pub fn coefficients(&self, modulus: u64) -> Result<Vec<u64>, CircuitError> {
        let refused = |_| CircuitError::TableModulus { modulus, steps: self.values.len() };
        let t = Modulus::new(modulus).map_err(refused)?;
        interpolate(&t, &self.range().collect::<Vec<_>>(), &self.values)
    }

    /// Returns the cost of tables that are evaluated at one vector, on a machine of this modulus.
    ///
    /// # Errors
    /// As [`Table::evaluate_many`], but for products.
    ///
    /// ```
    /// use sotto_circuits::{Clear, Table};
    ///
    /// let machine = Clear::integers(65_537, 1, 2);
    /// let cost = Table::cost(&machine, &[&Table::greater(0..=255, 80)?])?;
    /// assert_eq!((cost.depth, cost.products, cost.relinearisations), (8, 53, 27));
    /// # Ok::<(), sotto_circuits::CircuitError>(())
    /// ```
    pub fn cost<M: Machine<Value = i64>>(machine: &M, tables: &[&Self]) -> Result<Cost, CircuitError> {
        let form = TableForm::of(&modulus(machine, tables)?, tables)?;
        let square = usize::from(form.even);
        let cost = split::cost_of(&Sum::best(&form.polynomials));
        let (products, relinearisations) = (cost.products + square, cost.relinearisations + square);
        Ok(Cost { depth: form.depth() + square, products, relinearisations })
    }

    /// Returns the table's value at every slot, exactly. Every slot must hold a number of the range; others give an
    /// arbitrary result. A table that is even about the middle of its range, like |x|, or odd, takes fewer products.
    ///
    /// # Errors
    /// [`CircuitError::TableConstant`] for a table of one value; [`CircuitError::TableModulus`] if t is not a prime above the
    /// number of steps, or if the machine computes on reals; the errors of products.
    pub fn evaluate<M: Machine<Value = i64>>(
        &self,
        machine: &mut M,
        a: &M::Vector,
    ) -> Result<M::Vector, CircuitError> {
        let all = Self::evaluate_many(machine, &[self], a)?;
        all.into_iter().next().ok_or(CircuitError::Empty("a table"))
    }

    /// Evaluates several tables at one vector. They share its powers.
    ///
    /// # Errors
    /// As [`Table::evaluate`]; [`CircuitError::Empty`] without a table.
    pub fn evaluate_many<M: Machine<Value = i64>>(
        machine: &mut M,
        tables: &[&Self],
        a: &M::Vector,
    ) -> Result<Vec<M::Vector>, CircuitError> {
        let t = modulus(machine, tables)?;
        let form = TableForm::of(&t, tables)?;
        let mut base = form.place(machine, a)?;
        if let TableForm { even: true, .. } = form {
            let square = machine.square(&base)?;
            machine.recycle(core::mem::replace(&mut base, square));
        }
        require_levels(machine, &base, form.depth())?;
        let splits = Sum::best(&form.polynomials);
        let mut ladder = Ladder::new(machine, t, base);
        let results = splits.iter().map(|sum| ladder.value(machine, sum)).collect::<Result<Vec<_>, _>>();
        ladder.recycle(machine);
        results
    }
}

/// Returns the machine's modulus.
fn modulus<M: Machine>(machine: &M, tables: &[&Table]) -> Result<Modulus, CircuitError> {
    let steps = tables.iter().map(|table| table.values.len()).max().unwrap_or(0);
    let t = machine.modulus().unwrap_or(0);
    Modulus::new(t).map_err(|_| CircuitError::TableModulus { modulus: t, steps })
}

/// The polynomials of tables that share powers.
struct TableForm {
    /// The doubled middle of the range, if the polynomials are in the distance from it; else they are in x itself.
    middle: Option<i64>,
    /// The polynomials are in the square of that.
    even: bool,
    polynomials: Vec<Vec<u64>>,
}

impl TableForm {
    fn of(t: &Modulus, tables: &[&Table]) -> Result<Self, CircuitError> {
        let first = tables.first().ok_or(CircuitError::Empty("a table"))?;
        let constant = |table: &&&Table| table.values.iter().all(|value| *value == table.values[0]);
        if let Some(table) = tables.iter().find(constant) {
            let (first, last) = table.range().into_inner();
            return Err(CircuitError::TableConstant { value: table.values[0], first, last });
        }
        let middle = first.first + (first.first + first.values.len() as i64 - 1);
        let mirrored = |table: &&Table| {
            let forward = table.values.iter();
            let centred = 2 * table.first + table.values.len() as i64 - 1 == middle;
            centred && forward.zip(table.values.iter().rev()).all(|(a, b)| a == b)
        };
        let opposite = |table: &&Table| {
            let sum = table.values[0] + table.values[table.values.len() - 1];
            let centred = 2 * table.first + table.values.len() as i64 - 1 == middle;
            centred && table.values.iter().zip(table.values.iter().rev()).all(|(a, b)| a + b == sum)
        };
        let even = tables.iter().all(mirrored);
        let middle = (even || tables.iter().all(opposite)).then_some(middle);
        let polynomial = |table: &&Table| {
            let place = |x: i64| match middle {
                // Distances from a middle between two numbers are odd, doubled.
                Some(middle) if middle % 2 != 0 => 2 * x - middle,
                Some(middle) => x - middle / 2,
                None => x,
            };
            let points: Vec<i64> = table.range().map(place).collect();
            let mut coefficients = interpolate(t, &points, &table.values)?;
            if even {
                coefficients = coefficients.into_iter().step_by(2).collect();
            }
            while coefficients.pop_if(|last| *last == 0).is_some() {}
            Ok(coefficients)
        };
        let polynomials = tables.iter().map(polynomial).collect::<Result<_, CircuitError>>()?;
        Ok(Self { middle, even, polynomials })
    }

    /// Returns the depth of the polynomials.
    fn depth(&self) -> usize {
        split::depth_of(self.polynomials.iter().map(Vec::len).max().unwrap_or(0))
    }

    /// Returns the variable of the polynomials.
    fn place<M: Machine<Value = i64>>(
        &self,
        machine: &mut M,
        a: &M::Vector,
    ) -> Result<M::Vector, CircuitError> {
        match self.middle {
            None | Some(0) => Ok(machine.copy(a)),
            Some(middle) if middle % 2 != 0 => {
                let doubled = machine.multiply_constant(a, 2)?;
                let placed = machine.add_constant(&doubled, -middle)?;
                machine.recycle(doubled);
                Ok(placed)
            }
            Some(middle) => machine.add_constant(a, -middle / 2),
        }
    }
}
