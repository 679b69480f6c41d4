//! Sums over a vector. Slots that outgrow the bits that decryption decodes shrink after the rotations: the rounding of the
//! rescaling is then added once, and not by every rotation.

use sotto_circuits::{CircuitError, Machine, sum_all, sum_block};
use sotto_rlwe::{Params, Shape};

use super::arithmetic::pairs;
use super::shrink::GROWTH;
use super::work::{Operands, Operation, Outcome, assumed_error, check, decodes, run};
use super::{Encrypted, Facts};
use crate::error::Result;
use crate::scheme::Arithmetic;

/// Returns the sum of a ciphertext's slots, in every slot. `period`: slots after which a short vector repeats.
pub(super) fn slots<M: Machine>(
    machine: &mut M,
    part: &M::Vector,
    period: Option<usize>,
) -> Result<M::Vector, CircuitError> {
    match period {
        Some(period) => sum_block(machine, part, period),
        None => sum_all(machine, part),
    }
}

/// Returns `sum` · `factor`, if there is one.
pub(super) fn shrunk<M: Machine>(
    machine: &mut M,
    sum: M::Vector,
    factor: Option<M::Value>,
) -> Result<M::Vector, CircuitError> {
    let Some(factor) = factor else { return Ok(sum) };
    let shrunk = machine.multiply_constant(&sum, factor)?;
    machine.recycle(sum);
    Ok(shrunk)
}

/// Returns the factor 2^-`shift`; none for 0.
pub(super) fn factor_of<S: Arithmetic>(shift: u32) -> Option<S::Value> {
    (shift > 0).then(|| S::number((-f64::from(shift)).exp2()))
}

/// The sum of all values, in every slot.
struct Total<V> {
    /// Shrinks the slots before they are added.
    before: Option<V>,
    /// Clears the padding of the last part, and shrinks that part.
    mask: Option<Vec<V>>,
    /// Shrinks the sum.
    after: Option<V>,
    period: Option<usize>,
}

impl<S: Arithmetic> Operation<S> for Total<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let parts = operands[0];
        let mut total: Option<M::Vector> = None;
        for (index, part) in parts.iter().enumerate() {
            let term = match (&self.mask, self.before) {
                (Some(mask), _) if index + 1 == parts.len() => machine.multiply_vector(part, mask)?,
                (_, Some(factor)) => machine.multiply_constant(part, factor)?,
                _ => machine.copy(part),
            };
            total = Some(match total {
                None => term,
                Some(sum) => {
                    let both = machine.add(&sum, &term)?;
                    machine.recycle(sum);
                    machine.recycle(term);
                    both
                }
            });
        }
        let total = total.ok_or(CircuitError::Empty("a sum"))?;
        let sum = slots(machine, &total, self.period)?;
        machine.recycle(total);
        Ok(vec![shrunk(machine, sum, self.after)?])
    }
}

/// Σ a·b over all parts and slots, in every slot. `factor` shrinks it.
struct InnerProduct<V> {
    factor: Option<V>,
    period: Option<usize>,
}

impl<S: Arithmetic> Operation<S> for InnerProduct<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let terms: Vec<_> = pairs(operands).collect();
        let products = machine.sum_of_products(&terms)?;
        let total = slots(machine, &products, self.period)?;
        machine.recycle(products);
        Ok(vec![shrunk(machine, total, self.factor)?])
    }
}

impl<S: Arithmetic> Encrypted<S> {
    /// Adds all values: a vector of length 1 that goes with vectors of every length. Rotations, no product, unless padding
    /// has to be cleared first.
    ///
    /// # Errors
    /// [`Error::NoKeys`](crate::Error::NoKeys) without evaluation keys, [`Error::Depth`](crate::Error::Depth) without room.
    ///
    /// ```
    /// # use sotto::{Bfv, Context};
    /// # let context = Context::<Bfv>::for_depth(1)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[1, 2, 3, 4])?;
    /// assert_eq!(secret.decrypt(&x.sum()?)?.value(), 10);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn sum(&self) -> Result<Self> {
        let facts = self.facts;
        if facts.len == 1 {
            return Ok(self.clone());
        }
        if facts.is_zero() {
            return Ok(self.zeros(1));
        }
        let slots = self.context.slots();
        let period = self.context.period(facts.len);
        let last = facts.len - (self.context.parts(facts.len) - 1) * slots;
        let clear = !facts.zero_padded && last < period.unwrap_or(slots);
        let mask =
            |factor: f64| clear.then(|| self.context.filled(&vec![S::number(factor); last], facts.len));
        let late = |shift| Total { before: None, mask: mask(1.0), after: factor_of::<S>(shift), period };
        match Self::shift_of(facts, &[self], late) {
            Ok(shift) => return Self::total(facts, &[self], &late(shift), shift),
            Err(error) if S::EXACT || !clear || !error.is_room() => return Err(error),
            Err(_) => {}
        }
        // The product that clears the padding shrinks too, if no level is left for another one.
        let factor = |shift: u32| (-f64::from(shift)).exp2();
        let early =
            |shift| Total { before: factor_of::<S>(shift), mask: mask(factor(shift)), after: None, period };
        let shift = Self::shift_of(facts, &[self], early)?;
        Self::total(facts, &[self], &early(shift), shift)
    }

    /// The sum of a · b, computed by one operation; None without room for it.
    pub(super) fn inner_product(&self, other: &Self, facts: Facts) -> Result<Option<Self>> {
        let period = self.context.period(facts.len);
        let work = |shift| InnerProduct { factor: factor_of::<S>(shift), period };
        match Self::shift_of(facts, &[self, other], work) {
            Ok(shift) => Ok(Some(Self::total(facts, &[self, other], &work(shift), shift)?)),
            Err(error) if error.is_room() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The sum of values with these facts, whose slots shrank by 2^`shift`.
    fn total(facts: Facts, operands: &[&Self], work: &impl Operation<S>, shift: u32) -> Result<Self> {
        let (unit, magnitude) = (facts.unit * f64::from(shift).exp2(), facts.magnitude * facts.len as f64);
        let facts = Facts { len: 1, zero_padded: true, unit, magnitude, range: None }.finite()?;
        let params = operands[0].context.params();
        // Padding adds nothing to a sum, but to the bound that follows from rotations.
        let body = run(operands, work)?.bounded(params, magnitude / unit.abs());
        Ok(Self::new(&operands[0].context, facts, body))
    }

    /// Returns the bits by which the slots of a sum shrink: none if decryption decodes them as they are. Otherwise as many as
    /// cost at most a quarter of its accuracy, up to the logarithm of its length: products that follow have more room. At
    /// least so many that decryption decodes the product of two such sums.
    fn shift_of<W: Operation<S>>(facts: Facts, operands: &[&Self], work: impl Fn(u32) -> W) -> Result<u32> {
        let mut refusal = match check(operands, &work(0)) {
            Ok(()) => return Ok(0),
            Err(error) if S::EXACT || !error.is_room() => return Err(error),
            Err(error) => error,
        };
        let params = operands[0].context.params();
        let mut found: Option<(u32, f64, bool)> = None;
        for shift in 1..=(facts.len as f64).log2().ceil() as u32 {
            let (shapes, slot) = match assumed_error(operands, &work(shift), 1) {
                Ok(assumed) => assumed,
                Err(error) if error.is_room() => {
                    refusal = error;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let error = slot * f64::from(shift).exp2();
            match found {
                Some((_, least, true)) if error > GROWTH * least => break,
                _ => {
                    let least = found.map_or(error, |(_, least, _)| least);
                    found = Some((shift, least, shapes.iter().all(|shape| multiplies(params, shape))));
                }
            }
        }
        found.map(|(shift, ..)| shift).ok_or(refusal)
    }
}

/// True if decryption decodes the product of two such sums, or if no level is left for it.
fn multiplies<S: Arithmetic>(params: &Params<S>, sum: &Shape<S>) -> bool {
    let product = || sum.square(params)?.relinearise(params)?.drop_prime(params);
    sum.level == 0 || product().is_ok_and(|product| decodes(params, &product).is_ok())
}
