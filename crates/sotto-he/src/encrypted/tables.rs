//! Comparisons, tables and extremes of whole numbers of a declared range, exactly.

use core::ops::RangeInclusive;

use sotto_circuits::{CircuitError, Machine, Table, maximum, minimum};

use super::slotwise::pairs;
use super::work::{Operands, Operation, Outcome, run};
use super::{Encrypted, Facts};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scheme::{Arithmetic, Exact};

impl<S: Arithmetic> Operation<S> for Table {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        operands[0].iter().map(|part| S::look_up(self, machine, part)).collect()
    }
}

/// The larger or the smaller of two vectors.
struct Extreme {
    range: RangeInclusive<i64>,
    larger: bool,
}

impl<S: Arithmetic<Value = i64>> Operation<S> for Extreme {
    fn run<M: Machine<Value = i64>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let extreme = if self.larger { maximum } else { minimum };
        pairs(operands).map(|(a, b)| extreme(machine, a, b, self.range.clone())).collect()
    }
}

impl<S: Arithmetic<Value = i64>> Context<S> {
    /// Chooses parameters for comparisons of whole numbers of a range, at most 256 of them, and a count of the results:
    /// the fastest of the smallest degree whose noise bound holds for any table of the range. Values outside are refused
    /// when they are encrypted. For other computations, like extremes, see [`ContextBuilder::range`](crate::ContextBuilder::range)
    /// with [`build_for`](crate::ContextBuilder::build_for).
    ///
    /// # Errors
    /// [`Error::NoParameters`] if no degree has room; [`Error::Circuit`] for an empty or too long range.
    ///
    /// ```
    /// use sotto::{Bgv, Context, Error};
    ///
    /// // Temperatures in whole degrees.
    /// let context = Context::<Bgv>::for_comparisons(0..=15)?;
    /// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[3, 12, 8, 9, 15])?;
    /// assert_eq!(secret.decrypt(&x.greater_than(8)?)?.values(), [0, 1, 0, 1, 1]);
    /// assert_eq!(secret.decrypt(&x.greater_than(8)?.sum()?)?.value(), 3);
    /// assert!(matches!(secret.encrypt(&[16]), Err(Error::OutsideRange { index: 0, first: 0, last: 15 })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn for_comparisons(range: RangeInclusive<i64>) -> Result<Self> {
        Self::builder().range(range).build()
    }

    /// Returns the declared range of inputs.
    pub fn range(&self) -> Option<RangeInclusive<i64>> {
        self.0.range.map(|(first, last)| first..=last)
    }
}

impl<S: Arithmetic> Encrypted<S> {
    /// Returns the table's value for every value: see [`Encrypted::table`].
    pub(crate) fn looked_up(&self, table: &Table) -> Result<Self> {
        let (first, last) = self.facts.limits();
        let (table_first, table_last) = table.range().into_inner();
        if first < table_first || last > table_last {
            return Err(Error::NotInTable { first, last, table_first, table_last });
        }
        if self.facts.is_public() {
            let number = |number: f64| table.value(number as i64).map_or(f64::INFINITY, |value| value as f64);
            return self.public(self.len(), self.facts.offset.mapped(self.len(), number));
        }
        // Padding holds 0, and stays so: where the table is not 0 at 0, its value there is added to the values alone.
        let at_zero = table.value(0).unwrap_or(0);
        let from_zero =
            Table::new(table_first, table.values().iter().map(|value| value - at_zero).collect())?;
        let body = run(&[self], &from_zero)?;
        let largest =
            |table: &Table| table.values().iter().map(|v| v.unsigned_abs()).max().unwrap_or(0) as f64;
        let zero_padded = self.facts.zero_padded && table.value(0).is_some();
        let facts = Facts { zero_padded, unit: 1.0, ..self.facts.clone() };
        let facts = facts.within_slots(largest(&from_zero))?;
        let mut result = Self::new(&self.context, facts, body);
        if at_zero != 0 {
            result = result.shifted(S::number(at_zero as f64))?;
        }
        let known = table.values().iter().copied();
        result.facts = result.facts.within_slots(largest(table))?;
        result.facts.range = known.clone().min().zip(known.max());
        Ok(result)
    }
}

impl<S: Exact> Encrypted<S> {
    /// Returns the range that the values are known to be in, from the declared range and the computation. Public.
    pub fn range(&self) -> RangeInclusive<i64> {
        let (first, last) = self.facts.limits();
        first..=last
    }

    /// Declares a tighter range that the caller knows. Tables give an arbitrary result for a value outside it.
    #[must_use]
    pub fn with_range(mut self, range: RangeInclusive<i64>) -> Self {
        let (first, last) = self.facts.limits();
        self.facts.range = Some((first.max(*range.start()), last.min(*range.end())));
        self
    }

    /// Returns the table's value for every value, exactly: one polynomial modulo the plain modulus, of depth
    /// ⌈log2(steps − 1)⌉. The example is one of [`Encrypted::greater_than`].
    ///
    /// # Errors
    /// [`Error::NotInTable`] if values may lie outside the table's range; [`Error::Circuit`] for a table of one value;
    /// [`Error::NoKeys`], [`Error::Depth`].
    ///
    /// ```
    /// # use sotto::{Bfv, Context, Table};
    /// # let context = Context::<Bfv>::for_comparisons(0..=15)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[3, 12, 8])?;
    /// let squares_below_ten = Table::from_fn(0..=15, |x| if x < 10 { x * x } else { -1 })?;
    /// assert_eq!(secret.decrypt(&x.table(&squares_below_ten)?)?.values(), [9, -1, 64]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn table(&self, table: &Table) -> Result<Self> {
        self.looked_up(table)
    }

    fn whether(&self, table: impl Fn(RangeInclusive<i64>) -> Result<Table, CircuitError>) -> Result<Self> {
        self.table(&table(self.range())?)
    }

    /// Returns 1 where x > limit, else 0.
    ///
    /// # Errors
    /// As [`Encrypted::table`].
    ///
    /// ```
    /// # use sotto::{Bfv, Context};
    /// # let context = Context::<Bfv>::for_comparisons(-4..=11)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[-4, 8, 9, 11])?;
    /// assert_eq!(secret.decrypt(&x.greater_than(8)?)?.values(), [0, 0, 1, 1]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn greater_than(&self, limit: i64) -> Result<Self> {
        self.whether(|range| Table::greater(range, limit))
    }

    /// Returns 1 where x ≥ limit, else 0.
    ///
    /// # Errors
    /// As [`Encrypted::table`].
    ///
    /// ```
    /// # use sotto::{Bfv, Context};
    /// # let context = Context::<Bfv>::for_comparisons(-4..=11)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[-4, 8, 9, 11])?;
    /// assert_eq!(secret.decrypt(&x.at_least(8)?)?.values(), [0, 1, 1, 1]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn at_least(&self, limit: i64) -> Result<Self> {
        self.whether(|range| Table::at_least(range, limit))
    }

    /// Returns 1 where x < limit, else 0.
    ///
    /// # Errors
    /// As [`Encrypted::table`].
    ///
    /// ```
    /// # use sotto::{Bgv, Context};
    /// # let context = Context::<Bgv>::for_comparisons(-4..=11)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[-4, 8, 9])?;
    /// let below = x.less_than(9)?;
    /// assert_eq!(secret.decrypt(&below)?.values(), [1, 1, 0]);
    /// // Padding does not count.
    /// assert_eq!(secret.decrypt(&below.sum()?)?.value(), 2);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn less_than(&self, limit: i64) -> Result<Self> {
        self.whether(|range| Table::less(range, limit))
    }

    /// Returns 1 where x ≤ limit, else 0.
    ///
    /// # Errors
    /// As [`Encrypted::table`].
    ///
    /// ```
    /// # use sotto::{Bfv, Context};
    /// # let context = Context::<Bfv>::for_comparisons(-4..=11)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[-4, 8, 9])?;
    /// assert_eq!(secret.decrypt(&x.at_most(8)?)?.values(), [1, 1, 0]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn at_most(&self, limit: i64) -> Result<Self> {
        self.whether(|range| Table::at_most(range, limit))
    }

    /// Returns 1 where x lies in the limits, both included, else 0.
    ///
    /// # Errors
    /// As [`Encrypted::table`].
    ///
    /// ```
    /// # use sotto::{Bfv, Context};
    /// # let context = Context::<Bfv>::for_comparisons(-4..=11)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[-4, 0, 8, 9])?;
    /// assert_eq!(secret.decrypt(&x.between(0..=8)?)?.values(), [0, 1, 1, 0]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn between(&self, limits: RangeInclusive<i64>) -> Result<Self> {
        self.whether(|range| Table::between(range, limits.clone()))
    }

    /// Returns 1 where x = value, else 0.
    ///
    /// # Errors
    /// As [`Encrypted::table`].
    ///
    /// ```
    /// # use sotto::{Bfv, Context};
    /// # let context = Context::<Bfv>::for_comparisons(-4..=11)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[-4, 8, 9, 8])?;
    /// assert_eq!(secret.decrypt(&x.equals(8)?)?.values(), [0, 1, 0, 1]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn equals(&self, value: i64) -> Result<Self> {
        self.whether(|range| Table::equal(range, value))
    }

    /// Returns the larger of two values, place by place, through the size of their difference. Together the vectors may
    /// take at most 256 steps.
    ///
    /// # Errors
    /// [`Error::Circuit`] for more steps; [`Error::Length`], [`Error::Mixed`], [`Error::NoKeys`], [`Error::Depth`].
    ///
    /// ```
    /// use sotto::{Bgv, Context};
    ///
    /// let builder = Context::<Bgv>::builder().range(0..=15);
    /// let context = builder.build_for(&[3, 3], |x| x[0].max(&x[1]))?;
    /// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let (x, y) = (secret.encrypt(&[3, 15, 7])?, secret.encrypt(&[4, 0, 7])?);
    /// assert_eq!(secret.decrypt(&x.max(&y)?)?.values(), [4, 15, 7]);
    /// assert_eq!(secret.decrypt(&x.min(&y)?)?.values(), [3, 0, 7]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn max(&self, other: &Self) -> Result<Self> {
        self.extreme(other, true)
    }

    /// Returns the smaller of two values, place by place: see [`Encrypted::max`], whose example has both.
    ///
    /// # Errors
    /// As [`Encrypted::max`].
    pub fn min(&self, other: &Self) -> Result<Self> {
        self.extreme(other, false)
    }

    fn extreme(&self, other: &Self, larger: bool) -> Result<Self> {
        let joined = self.joined(other)?;
        if self.facts.is_public() && other.facts.is_public() {
            let (a, b) = (&self.facts.offset, &other.facts.offset);
            return self.public(joined.len, a.extreme(b, larger));
        }
        let ((a0, a1), (b0, b1)) = (self.facts.limits(), other.facts.limits());
        let (x, y) = (self.with_offset_in_slots()?, other.with_offset_in_slots()?);
        let body = run(&[&x, &y], &Extreme { range: a0.min(b0)..=a1.max(b1), larger })?;
        let zero_padded = self.facts.zero_padded && other.facts.zero_padded && self.len() == other.len();
        let magnitude = self.facts.magnitude.max(other.facts.magnitude);
        let facts = Facts { zero_padded, unit: 1.0, ..joined }.within_slots(magnitude)?;
        let range = if larger { (a0.max(b0), a1.max(b1)) } else { (a0.min(b0), a1.min(b1)) };
        Ok(Self::new(&self.context, Facts { range: Some(range), ..facts }, body))
    }
}
