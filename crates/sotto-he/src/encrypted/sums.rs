//! Sums over a vector. Slots that outgrow the bits that decryption decodes shrink after the rotations: the rounding of the
//! rescaling is then added once, and not by every rotation.

use sotto_circuits::{CircuitError, Machine, sum_all, sum_block};
use sotto_rlwe::{Params, Shape};

use super::shrink::{GROWTH, SPARE_BITS, has_room};
use super::slotwise::pairs;
use super::work::{Operands, Operation, Outcome, assumed_error, decodes, outline, run};
use super::{Encrypted, Facts};
use crate::error::{Error, Result};
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

/// Returns the factor that shrinks a sum by `shift` bits; none for 0. That of a mean, a sum with a divisor, is up to a bit
/// larger, so that the unit of the mean is a power of two: such means are added without a level.
pub(super) fn factor_of<S: Arithmetic>(shift: u32, divisor: f64) -> Option<S::Value> {
    (shift > 0).then(|| S::number(shrinking(shift, divisor)))
}

fn shrinking(shift: u32, divisor: f64) -> f64 {
    if shift == 0 { 1.0 } else { (divisor.log2().ceil() - f64::from(shift)).exp2() / divisor }
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
        self.divided_sum(1.0)
    }

    /// The sum, divided by a public number.
    pub(super) fn divided_sum(&self, divisor: f64) -> Result<Self> {
        self.sum_for(divisor, false)
    }

    /// The mean, in slots that shrink until its square has room, which makes it less exact.
    pub(super) fn mean_to_square(&self) -> Result<Self> {
        let divisor = self.len() as f64;
        self.sum_for(divisor, true).or_else(|_| self.divided_sum(divisor))
    }

    fn sum_for(&self, divisor: f64, to_square: bool) -> Result<Self> {
        let facts = &self.facts;
        if facts.len == 1 {
            return if divisor == 1.0 { Ok(self.clone()) } else { self.scaled(S::number(1.0 / divisor)) };
        }
        if facts.is_public() {
            return self.public(1, facts.offset.sum(facts.len).divided(divisor));
        }
        if !facts.offset.is_none() {
            let offset = facts.offset.sum(facts.len).divided(divisor);
            return self.without_offset().sum_for(divisor, to_square)?.plus_offset(&offset, 1);
        }
        let slots = self.context.slots();
        let period = self.context.period(facts.len);
        let last = facts.len - (self.context.parts(facts.len) - 1) * slots;
        let clear = !facts.zero_padded && last < period.unwrap_or(slots);
        let mask =
            |factor: f64| clear.then(|| self.context.filled(&vec![S::number(factor); last], facts.len));
        let late =
            |shift| Total { before: None, mask: mask(1.0), after: factor_of::<S>(shift, divisor), period };
        match Self::shift_of(facts, &[self], divisor, to_square, late) {
            Ok(shift) => return Self::total(facts, &[self], &late(shift), shift, divisor),
            Err(error) if S::EXACT || !clear || !error.is_room() => return Err(error),
            Err(_) => {}
        }
        // The product that clears the padding shrinks too, if no level is left for another one.
        let early = |shift| Total {
            before: factor_of::<S>(shift, divisor),
            mask: mask(shrinking(shift, divisor)),
            after: None,
            period,
        };
        let shift = Self::shift_of(facts, &[self], divisor, to_square, early)?;
        Self::total(facts, &[self], &early(shift), shift, divisor)
    }

    /// The sum of a · b, divided by a public number, computed by one operation; None without room for it.
    pub(super) fn inner_product(&self, other: &Self, facts: &Facts, divisor: f64) -> Result<Option<Self>> {
        let period = self.context.period(facts.len);
        let work = |shift| InnerProduct { factor: factor_of::<S>(shift, divisor), period };
        match Self::shift_of(facts, &[self, other], divisor, false, work) {
            Ok(shift) => Ok(Some(Self::total(facts, &[self, other], &work(shift), shift, divisor)?)),
            Err(error) if error.is_room() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The sum of values with these facts, whose slots shrank by `shift` bits, divided by a public number.
    fn total(
        facts: &Facts,
        operands: &[&Self],
        work: &impl Operation<S>,
        shift: u32,
        divisor: f64,
    ) -> Result<Self> {
        // Exactly a power of two where the sum shrinks.
        let unit = match shift {
            0 => facts.unit / divisor,
            _ => facts.unit * (f64::from(shift) - divisor.log2().ceil()).exp2(),
        };
        let encrypted = facts.encrypted * (facts.len as f64 / divisor);
        let facts = Facts { len: 1, zero_padded: true, unit, ..facts.clone() }.within_slots(encrypted)?;
        let context = &operands[0].context;
        // Padding adds nothing to a sum, but to the bound that follows from rotations.
        let body = run(operands, work)?.bounded(context.params(), facts.slots_within());
        Ok(Self::new(context, facts, body))
    }

    /// Returns the bits by which the slots of a sum shrink: none if decryption decodes them as they are. Otherwise as many as
    /// cost at most a quarter of its accuracy, up to the logarithm of its length: products that follow have more room.
    /// `to_square`: at least so many that the square of the sum has room.
    fn shift_of<W: Operation<S>>(
        facts: &Facts,
        operands: &[&Self],
        divisor: f64,
        to_square: bool,
        work: impl Fn(u32) -> W,
    ) -> Result<u32> {
        let params = operands[0].context.params();
        let enough = |shapes: &[Shape<S>]| !to_square || shapes.iter().all(|shape| squares(params, shape));
        let mut refusal = match outline(operands, &work(0)) {
            Ok((shapes, _)) => match shapes.iter().try_for_each(|shape| decodes(params, shape)) {
                Ok(()) if enough(&shapes) => return Ok(0),
                Ok(()) => Error::Depth {
                    degree: params.degree(),
                    reason: "the sum leaves no room for its square".into(),
                },
                Err(error) => error,
            },
            Err(error) => error,
        };
        if S::EXACT || !refusal.is_room() {
            return Err(refusal);
        }
        let mut found: Option<(u32, f64, bool)> = None;
        for shift in 1..=(facts.len as f64).log2().ceil() as u32 {
            let (shapes, slot) = match assumed_error(operands, &work(shift), 1) {
                // A sum of two such sums has room too.
                Ok((shapes, _)) if shapes.iter().any(|shape| shape.room(params) < SPARE_BITS) => continue,
                Ok(assumed) => assumed,
                Err(error) if error.is_room() => {
                    refusal = error;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let error = slot / shrinking(shift, divisor);
            match found {
                Some((_, least, true)) if error > GROWTH * least => break,
                _ => {
                    let least = found.map_or(error, |(_, least, _)| least);
                    found = Some((shift, least, enough(&shapes)));
                }
            }
        }
        found.map(|(shift, ..)| shift).ok_or(refusal)
    }
}

/// True if the square of a sum has room, or if no level is left for it.
fn squares<S: Arithmetic>(params: &Params<S>, sum: &Shape<S>) -> bool {
    let square = || sum.square(params)?.relinearise(params)?.drop_prime(params);
    sum.level == 0 || square().is_ok_and(|square| has_room(params, &square))
}
