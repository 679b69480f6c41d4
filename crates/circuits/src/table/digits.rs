//! Comparisons of values that are sent as two digits: x = first + radix·high + low.

use core::ops::RangeInclusive;

use super::Table;
use crate::error::CircuitError;
use crate::machine::Machine;

/// A range whose values are sent as two digits, each in a vector of its own: up to 511 times 511 steps. Tables of the
/// digits are far smaller than one of the range: 4,096 steps take two digits of 64, polynomials of degree 63 and depth 7.
///
/// ```
/// use sotto_circuits::{Clear, TwoDigits};
///
/// // 12 bits of a sensor as 6 and 6.
/// let digits = TwoDigits::new(0..=4095, 64)?;
/// let readings = [0, 1999, 2000, 2001, 4095].map(|x| digits.split(x).expect("in range"));
/// let mut machine = Clear::integers(65_537, 1, 5);
/// let [high, low] = [0, 1].map(|d| readings.iter().map(|digits| digits[d]).collect());
/// let above = digits.greater(2000)?.evaluate(&mut machine, &high, &low)?;
/// assert_eq!(above, [0, 0, 0, 1, 1]);
/// # Ok::<(), sotto_circuits::CircuitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoDigits {
    first: i64,
    last: i64,
    radix: i64,
}

/// A public predicate on two digits.
///
/// Example: [`TwoDigits`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigitTable {
    /// Tables of one digit, added.
    high: Option<Table>,
    low: Option<Table>,
    /// Products of a table of the high digit and one of the low digit, added.
    products: Vec<(Table, Table)>,
}

impl TwoDigits {
    /// Makes digits of a radix.
    ///
    /// # Errors
    /// [`CircuitError::TableRange`] if a digit has more than [`Table::MOST_STEPS`] values, or the range is empty.
    pub fn new(range: RangeInclusive<i64>, radix: u32) -> Result<Self, CircuitError> {
        let (first, last, radix) = (*range.start(), *range.end(), i64::from(radix));
        let refused = |steps| CircuitError::TableRange { steps, most: Table::MOST_STEPS };
        let width = last.checked_sub(first).filter(|width| *width >= 0).ok_or_else(|| refused(0))?;
        let most = Table::MOST_STEPS as i64;
        if !(2..=most).contains(&radix) {
            return Err(refused(radix as usize));
        }
        if width / radix >= most {
            return Err(refused(usize::try_from(width / radix).unwrap_or(usize::MAX).saturating_add(1)));
        }
        Ok(Self { first, last, radix })
    }

    /// Returns the values that are split into digits.
    pub fn range(&self) -> RangeInclusive<i64> {
        self.first..=self.last
    }

    /// Returns the ranges of the high and of the low digit.
    pub fn digit_ranges(&self) -> [RangeInclusive<i64>; 2] {
        [0..=(self.last - self.first) / self.radix, 0..=self.radix - 1]
    }

    /// Returns the digits of a value, the high one first; None outside the range.
    pub fn split(&self, x: i64) -> Option<[i64; 2]> {
        self.range().contains(&x).then(|| self.digits(x))
    }

    fn digits(&self, x: i64) -> [i64; 2] {
        [(x - self.first).div_euclid(self.radix), (x - self.first).rem_euclid(self.radix)]
    }

    /// Returns the value of two digits.
    pub fn join(&self, [high, low]: [i64; 2]) -> i64 {
        self.first + self.radix * high + low
    }

    /// Returns x > limit: \[h > h'\] + \[h = h'\]·\[l > l'\].
    ///
    /// # Errors
    /// [`CircuitError::Constant`] if it holds for all values or for none.
    pub fn greater(&self, limit: i64) -> Result<DigitTable, CircuitError> {
        self.between(limit.saturating_add(1)..=self.last)
    }

    /// Returns x ≥ limit.
    ///
    /// # Errors
    /// As [`TwoDigits::greater`].
    pub fn at_least(&self, limit: i64) -> Result<DigitTable, CircuitError> {
        self.between(limit..=self.last)
    }

    /// Returns x < limit.
    ///
    /// # Errors
    /// As [`TwoDigits::greater`].
    pub fn less(&self, limit: i64) -> Result<DigitTable, CircuitError> {
        self.between(self.first..=limit.saturating_sub(1))
    }

    /// Returns x ≤ limit.
    ///
    /// # Errors
    /// As [`TwoDigits::greater`].
    pub fn at_most(&self, limit: i64) -> Result<DigitTable, CircuitError> {
        self.between(self.first..=limit)
    }

    /// Returns x = value.
    ///
    /// # Errors
    /// As [`TwoDigits::greater`].
    pub fn equal(&self, value: i64) -> Result<DigitTable, CircuitError> {
        self.between(value..=value)
    }

    /// Returns x within `limits`, both ends included: the high digits strictly between the limits', and those that equal
    /// one limit's, times a comparison of the low digit.
    ///
    /// # Errors
    /// As [`TwoDigits::greater`].
    pub fn between(&self, limits: RangeInclusive<i64>) -> Result<DigitTable, CircuitError> {
        let (from, to) = ((*limits.start()).max(self.first), (*limits.end()).min(self.last));
        if from > to || (from, to) == (self.first, self.last) {
            return Err(CircuitError::Constant);
        }
        let [highs, lows] = self.digit_ranges();
        // Whole high digits: the last of the range may be incomplete, and whole for all of its values.
        let [[mut h0, l0], [mut h1, l1]] = [self.digits(from), self.digits(to)];
        let whole_from = l0 == 0;
        let whole_to = l1 == self.radix - 1 || to == self.last;
        let mut found = DigitTable { high: None, low: None, products: Vec::new() };
        if h0 == h1 && !(whole_from && whole_to) {
            found.push(Table::equal(highs, h0)?, Table::between(lows, l0..=l1)?);
            return found.checked();
        }
        if !whole_from {
            found.push(Table::equal(highs.clone(), h0)?, Table::at_least(lows.clone(), l0)?);
            h0 += 1;
        }
        if !whole_to {
            found.push(Table::equal(highs.clone(), h1)?, Table::at_most(lows, l1)?);
            h1 -= 1;
        }
        if h0 <= h1 {
            found.high = Some(Table::between(highs, h0..=h1)?);
        }
        found.checked()
    }
}

fn all(table: &Table, value: i64) -> bool {
    table.values().iter().all(|v| *v == value)
}

impl DigitTable {
    /// Adds a product; a factor that is always 1 is left out.
    fn push(&mut self, high: Table, low: Table) {
        match (all(&high, 1), all(&low, 1)) {
            (true, _) => self.low = Some(low),
            (_, true) => self.high = Some(high),
            _ => self.products.push((high, low)),
        }
    }

    fn checked(self) -> Result<Self, CircuitError> {
        let parts = [&self.high, &self.low];
        let constant = parts.into_iter().flatten().any(|table| all(table, 0) || all(table, 1));
        if constant || (self.high.is_none() && self.low.is_none() && self.products.is_empty()) {
            return Err(CircuitError::Constant);
        }
        Ok(self)
    }

    /// Returns 1 in every slot where the predicate holds, else 0. Every slot must hold the digits of a value of the range.
    ///
    /// # Errors
    /// As [`Table::evaluate`].
    pub fn evaluate<M: Machine<Value = i64>>(
        &self,
        machine: &mut M,
        high: &M::Vector,
        low: &M::Vector,
    ) -> Result<M::Vector, CircuitError> {
        let highs: Vec<&Table> = self.products.iter().map(|(high, _)| high).chain(&self.high).collect();
        let lows: Vec<&Table> = self.products.iter().map(|(_, low)| low).chain(&self.low).collect();
        let mut values = |tables: &[&Table], digit: &M::Vector| match tables {
            [] => Ok(Vec::new()),
            tables => Table::evaluate_many(machine, tables, digit),
        };
        let mut highs = values(&highs, high)?;
        let mut lows = values(&lows, low)?;
        let count = self.products.len();
        let mut alone: Vec<M::Vector> = highs.drain(count..).chain(lows.drain(count..)).collect();
        if count > 0 {
            alone.push(products(machine, highs, lows)?);
        }
        let mut total = alone.pop().ok_or(CircuitError::Constant)?;
        for part in alone {
            let sum = machine.add(&total, &part)?;
            machine.recycle(part);
            machine.recycle(core::mem::replace(&mut total, sum));
        }
        Ok(total)
    }
}

/// Returns Σ a_i·b_i on few primes.
fn products<M: Machine>(
    machine: &mut M,
    highs: Vec<M::Vector>,
    lows: Vec<M::Vector>,
) -> Result<M::Vector, CircuitError> {
    let mut levels = Vec::with_capacity(highs.len());
    for (a, b) in highs.iter().zip(&lows) {
        levels.push(machine.thrifty_level(a, b)?);
    }
    let level = levels.into_iter().min().ok_or(CircuitError::Empty("a sum of products"))?;
    let mut lowered = |vectors: Vec<M::Vector>| {
        let mut all = Vec::with_capacity(vectors.len());
        for vector in vectors {
            all.push(machine.lower(&vector, level)?);
            machine.recycle(vector);
        }
        Ok::<_, CircuitError>(all)
    };
    let (highs, lows) = (lowered(highs)?, lowered(lows)?);
    let terms: Vec<_> = highs.iter().zip(&lows).collect();
    let sum = machine.sum_of_products(&terms)?;
    highs.into_iter().chain(lows).for_each(|vector| machine.recycle(vector));
    Ok(sum)
}
