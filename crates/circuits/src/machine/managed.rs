//! Managed arithmetic for ciphertexts and shapes of every scheme; [`LevelRules`] decides about levels and scalings.

use sotto_rlwe::{Adjustment, EncodeError, EvalError, LevelRules, Plaintext, Scheme, SlotValue};

use super::backend::Backend;
use super::{Machine, Number};
use crate::error::CircuitError;

/// A public vector prepared for products at one level.
///
/// Example: [`Machine`]
#[derive(Debug)]
pub struct Prepared<P> {
    level: usize,
    multiplier: P,
}

/// Room that a product on fewer primes may cost.
const SPARED_BITS: f64 = 1.5;

/// An operand, unchanged by reference or moved to another level and scaling.
enum Brought<'a, O> {
    AsItIs(&'a O),
    Moved(O),
}

impl<O> core::ops::Deref for Brought<'_, O> {
    type Target = O;
    fn deref(&self) -> &O {
        match self {
            Self::AsItIs(operand) => operand,
            Self::Moved(operand) => operand,
        }
    }
}

fn bring<'a, B: Backend>(
    backend: &mut B,
    a: &'a B::Operand,
    by: Adjustment,
) -> Result<Brought<'a, B::Operand>, EvalError> {
    if by.is_nothing(B::shape(a).level) {
        return Ok(Brought::AsItIs(a));
    }
    Ok(Brought::Moved(backend.adjust(a, by)?))
}

fn bring_down<'a, B: Backend>(
    backend: &mut B,
    a: &'a B::Operand,
    level: usize,
) -> Result<Brought<'a, B::Operand>, EvalError> {
    bring(backend, a, Adjustment { level, factor: 1 })
}

fn release<B: Backend>(backend: &mut B, a: Brought<'_, B::Operand>) {
    if let Brought::Moved(operand) = a {
        backend.give(operand);
    }
}

/// Returns an owned operand that may be changed.
fn own<B: Backend>(backend: &mut B, a: Brought<'_, B::Operand>) -> B::Operand {
    match a {
        Brought::AsItIs(operand) => backend.copied(operand),
        Brought::Moved(operand) => operand,
    }
}

/// Returns a ± b with both brought to one level and scaling.
fn combine<B: Backend>(
    backend: &mut B,
    a: &B::Operand,
    b: &B::Operand,
    subtract: bool,
) -> Result<B::Operand, EvalError> {
    let [for_a, for_b] = B::Scheme::before_sum(backend.params(), B::shape(a), B::shape(b));
    let b = bring(backend, b, for_b)?;
    let a = bring(backend, a, for_a)?;
    let mut sum = own(backend, a);
    if subtract {
        backend.subtract_assign(&mut sum, &b)?;
    } else {
        backend.add_assign(&mut sum, &b)?;
    }
    release(backend, b);
    Ok(sum)
}

/// Adds a term to the total so far.
fn accumulate<B: Backend>(
    backend: &mut B,
    total: Option<B::Operand>,
    term: B::Operand,
) -> Result<B::Operand, EvalError> {
    let Some(mut total) = total else { return Ok(term) };
    let (left, right) = (B::shape(&total), B::shape(&term));
    if left.level == right.level && left.scaling == right.scaling {
        backend.add_assign(&mut total, &term)?;
        backend.give(term);
        return Ok(total);
    }
    let sum = combine(backend, &total, &term, false)?;
    backend.give(total);
    backend.give(term);
    Ok(sum)
}

/// Adds a product with a prepared plaintext to the total, in one pass if levels and scalings match.
fn accumulate_multiplied<B: Backend>(
    backend: &mut B,
    total: Option<B::Operand>,
    a: &B::Operand,
    by: &B::Multiplier,
) -> Result<B::Operand, EvalError> {
    let scaling = B::Scheme::multiply_plain_scaling(B::shape(a).scaling);
    let fits =
        |sum: &B::Operand| B::shape(sum).level == B::shape(a).level && B::shape(sum).scaling == scaling;
    match total {
        Some(mut sum) if fits(&sum) => {
            backend.add_multiplied_plain_assign(&mut sum, a, by)?;
            Ok(sum)
        }
        total => {
            let mut term = backend.copied(a);
            backend.multiply_plain_assign(&mut term, by)?;
            accumulate(backend, total, term)
        }
    }
}

/// Rescales a product if the scheme does so.
fn after_product<B: Backend>(backend: &mut B, mut product: B::Operand) -> Result<B::Operand, EvalError> {
    if B::Scheme::RESCALES {
        backend.drop_assign(&mut product)?;
    }
    Ok(product)
}

/// Returns Σ a_i·b_i with three components, at the level that suits the products.
fn tensors<B: Backend>(
    backend: &mut B,
    terms: &[(&B::Operand, &B::Operand)],
) -> Result<B::Operand, CircuitError> {
    let mut levels = Vec::with_capacity(terms.len());
    for (a, b) in terms {
        levels.push(B::Scheme::product_level(backend.params(), B::shape(a), B::shape(b))?);
    }
    let level = levels.into_iter().min().ok_or(CircuitError::Empty("a sum of products"))?;
    let mut total = None;
    for (a, b) in terms {
        let left = bring_down(backend, a, level)?;
        let product = if core::ptr::eq(*a, *b) {
            backend.tensor(&left, &left)?
        } else {
            let right = bring_down(backend, b, level)?;
            let product = backend.tensor(&left, &right)?;
            release(backend, right);
            product
        };
        release(backend, left);
        total = Some(accumulate(backend, total, product)?);
    }
    total.ok_or(CircuitError::Empty("a sum of products"))
}

/// Returns the lowest level among operands, if a product with a plaintext can still be rescaled there.
fn plain_level<B: Backend>(levels: impl Iterator<Item = usize>) -> Result<usize, CircuitError> {
    match levels.min() {
        None => Err(CircuitError::Empty("a sum")),
        Some(0) if B::Scheme::RESCALES => Err(CircuitError::Levels { needed: 1, left: 0 }),
        Some(level) => Ok(level),
    }
}

/// Encodes a public vector, or a single value if the parameters have no slots.
fn encode<B: Backend>(
    backend: &B,
    values: &[<B::Scheme as Scheme>::Value],
    level: usize,
) -> Result<Plaintext<B::Scheme>, EncodeError> {
    let params = backend.params();
    let canonical: Vec<_> = values.iter().map(|v| v.canonical(params.plain_modulus())).collect();
    match (B::Scheme::slot_shape(params), canonical.as_slice()) {
        (Some(_), values) => B::Scheme::encode_slots(params, values, level),
        (None, []) => B::Scheme::encode_scalar(params, Default::default(), level),
        (None, [value]) => B::Scheme::encode_scalar(params, *value, level),
        (None, values) => Err(EncodeError::TooMany { given: values.len(), slots: 1 }),
    }
}

impl<B: Backend> Machine for B
where
    <B::Scheme as Scheme>::Value: Number,
{
    type Value = <B::Scheme as Scheme>::Value;
    type Vector = B::Operand;
    type Multiplier = Prepared<B::Multiplier>;

    fn slots(&self) -> (usize, usize) {
        B::Scheme::slot_shape(self.params()).unwrap_or((1, 1))
    }

    fn modulus(&self) -> Option<u64> {
        B::Scheme::EXACT.then(|| self.params().plain_modulus())
    }

    fn canonical(&self, value: Self::Value) -> Self::Value {
        SlotValue::canonical(value, self.params().plain_modulus())
    }

    fn level(&self, a: &B::Operand) -> usize {
        B::shape(a).level
    }

    fn products_left(&self, a: &B::Operand) -> Option<usize> {
        B::Scheme::RESCALES.then(|| B::shape(a).level)
    }

    fn weighting_depth(&self, weights: &[Self::Value]) -> usize {
        let all = weights.iter().all(|weight| weight.as_integer().is_some());
        usize::from(B::Scheme::RESCALES && !all)
    }

    fn slot_error(&self, a: &B::Operand) -> f64 {
        B::shape(a).slot_error(self.params())
    }

    fn with_slot_bounds(&mut self, a: B::Operand, within: f64, error: f64) -> B::Operand {
        self.bounded(a, within, error)
    }

    fn can_rotate(&self, step: i32) -> bool {
        (step == 0 || (step.unsigned_abs() as usize) < self.slots().1) && self.has_key(step)
    }

    fn thrifty_level(&self, a: &B::Operand, b: &B::Operand) -> Result<usize, CircuitError> {
        Ok(B::Scheme::thrifty_level(self.params(), B::shape(a), B::shape(b), SPARED_BITS)?)
    }

    fn level_with_room(&self, a: &B::Operand, bits: f64) -> usize {
        let (params, shape) = (self.params(), B::shape(a));
        let keeps = |level: &usize| shape.lower(params, *level).is_ok_and(|lower| lower.room(params) >= bits);
        (0..shape.level).find(keeps).unwrap_or(shape.level)
    }

    fn degree(&self) -> Option<usize> {
        Some(self.params().degree())
    }

    fn multiply_monomial(&mut self, a: &B::Operand, power: usize) -> Result<B::Operand, CircuitError> {
        let mut moved = self.copied(a);
        self.monomial_assign(&mut moved, power)?;
        Ok(moved)
    }

    fn lower(&mut self, a: &B::Operand, level: usize) -> Result<B::Operand, CircuitError> {
        if B::Scheme::RESCALES {
            let lowered = bring_down(self, a, level)?;
            return Ok(own(self, lowered));
        }
        Ok(self.dropped_to(a, level)?)
    }

    fn weighted_sums(
        &mut self,
        terms: &[&B::Operand],
        weights: &[Vec<Self::Value>],
    ) -> Result<Vec<B::Operand>, CircuitError> {
        let whole = |row: &Vec<Self::Value>| row.iter().map(|w| self.canonical(*w).as_integer()).collect();
        let like = terms.first().map(|a| (B::shape(a).level, B::shape(a).scaling));
        let alike = |a: &&B::Operand| {
            let shape = B::shape(a);
            shape.components == 2 && like == Some((shape.level, shape.scaling))
        };
        match weights.iter().map(whole).collect::<Option<Vec<Vec<i64>>>>() {
            Some(weights) if terms.iter().all(alike) => Ok(self.weighted(terms, &weights)?),
            _ => weights.iter().map(|row| super::weighted_row(self, terms, row)).collect(),
        }
    }

    fn replace_factor(&mut self, a: &mut B::Operand, factor: Self::Value) -> Self::Value {
        self.replaced_factor(a, factor)
    }

    fn copy(&mut self, a: &B::Operand) -> B::Operand {
        self.copied(a)
    }

    fn recycle(&mut self, a: B::Operand) {
        self.give(a);
    }

    fn add(&mut self, a: &B::Operand, b: &B::Operand) -> Result<B::Operand, CircuitError> {
        Ok(combine(self, a, b, false)?)
    }

    fn subtract(&mut self, a: &B::Operand, b: &B::Operand) -> Result<B::Operand, CircuitError> {
        Ok(combine(self, a, b, true)?)
    }

    fn negate(&mut self, a: &B::Operand) -> Result<B::Operand, CircuitError> {
        let mut negated = self.copied(a);
        self.negate_assign(&mut negated)?;
        Ok(negated)
    }

    fn add_constant(&mut self, a: &B::Operand, value: Self::Value) -> Result<B::Operand, CircuitError> {
        let plaintext = B::Scheme::encode_scalar(self.params(), self.canonical(value), B::shape(a).level)?;
        let mut sum = self.copied(a);
        self.add_plain_assign(&mut sum, &plaintext)?;
        Ok(sum)
    }

    fn shift(&mut self, mut a: B::Operand, value: Self::Value) -> Result<B::Operand, CircuitError> {
        let plaintext = B::Scheme::encode_scalar(self.params(), self.canonical(value), B::shape(&a).level)?;
        self.add_plain_assign(&mut a, &plaintext)?;
        Ok(a)
    }

    fn add_vector(&mut self, a: &B::Operand, values: &[Self::Value]) -> Result<B::Operand, CircuitError> {
        let plaintext = encode(self, values, B::shape(a).level)?;
        let mut sum = self.copied(a);
        self.add_plain_assign(&mut sum, &plaintext)?;
        Ok(sum)
    }

    fn multiply_constant(&mut self, a: &B::Operand, value: Self::Value) -> Result<B::Operand, CircuitError> {
        self.weighted_sum(&[(a, value)])
    }

    fn multiply_vector(
        &mut self,
        a: &B::Operand,
        values: &[Self::Value],
    ) -> Result<B::Operand, CircuitError> {
        let prepared = self.prepare(values, B::shape(a).level)?;
        self.sum_of_prepared(&[(a, &prepared)])
    }

    fn weighted_sum(&mut self, terms: &[(&B::Operand, Self::Value)]) -> Result<B::Operand, CircuitError> {
        let weights: Vec<_> = terms.iter().map(|(_, weight)| self.canonical(*weight)).collect();
        if weights.iter().any(|weight| *weight == Default::default()) {
            return Err(EvalError::Transparent.into());
        }
        let integers: Option<Vec<i64>> = weights.iter().map(|w| w.as_integer()).collect();
        let mut total = None;
        if let Some(integers) = integers {
            for ((a, _), integer) in terms.iter().zip(integers) {
                let mut term = self.copied(a);
                match integer {
                    1 => {}
                    -1 => self.negate_assign(&mut term)?,
                    _ => self.multiply_integer_assign(&mut term, integer)?,
                }
                total = Some(accumulate(self, total, term)?);
            }
            return total.ok_or(CircuitError::Empty("a weighted sum"));
        }
        let level = plain_level::<B>(terms.iter().map(|(a, _)| B::shape(a).level))?;
        for ((a, _), weight) in terms.iter().zip(weights) {
            let plaintext = B::Scheme::encode_scalar(self.params(), weight, level)?;
            let multiplier = self.multiplier(&plaintext);
            let brought = bring_down(self, a, level)?;
            total = Some(accumulate_multiplied(self, total, &brought, &multiplier)?);
            release(self, brought);
        }
        let total = total.ok_or(CircuitError::Empty("a weighted sum"))?;
        Ok(after_product(self, total)?)
    }

    fn prepare(
        &mut self,
        values: &[Self::Value],
        level: usize,
    ) -> Result<Prepared<B::Multiplier>, CircuitError> {
        if values.iter().all(|v| self.canonical(*v) == Default::default()) {
            return Err(EvalError::Transparent.into());
        }
        let plaintext = encode(self, values, level)?;
        Ok(Prepared { level, multiplier: self.multiplier(&plaintext) })
    }

    fn sum_of_prepared(
        &mut self,
        terms: &[(&B::Operand, &Prepared<B::Multiplier>)],
    ) -> Result<B::Operand, CircuitError> {
        plain_level::<B>(terms.iter().map(|(a, _)| B::shape(a).level))?;
        let mut total = None;
        for (a, prepared) in terms {
            if B::shape(a).level != prepared.level {
                return Err(CircuitError::Prepared { prepared: prepared.level, found: B::shape(a).level });
            }
            total = Some(accumulate_multiplied(self, total, a, &prepared.multiplier)?);
        }
        let total = total.ok_or(CircuitError::Empty("a sum of products"))?;
        Ok(after_product(self, total)?)
    }

    fn sum_of_products(&mut self, terms: &[(&B::Operand, &B::Operand)]) -> Result<B::Operand, CircuitError> {
        let mut total = tensors(self, terms)?;
        self.relinearise_assign(&mut total)?;
        Ok(after_product(self, total)?)
    }

    fn sum_of_products_to_multiply(
        &mut self,
        terms: &[(&B::Operand, &B::Operand)],
    ) -> Result<B::Operand, CircuitError> {
        let mut total = tensors(self, terms)?;
        if B::Scheme::RESCALES {
            self.relinearise_assign(&mut total)?;
            return Ok(after_product(self, total)?);
        }
        let next = B::shape(&total).relinearise(self.params())?;
        if B::Scheme::thrifty_level(self.params(), &next, &next, SPARED_BITS)? < next.level {
            self.relinearise_and_drop_assign(&mut total)?;
        } else {
            self.relinearise_assign(&mut total)?;
        }
        Ok(total)
    }

    fn rotate(&mut self, a: &B::Operand, step: i32) -> Result<B::Operand, CircuitError> {
        turns(self, &[step])?;
        Ok(self.rotated(a, step)?)
    }

    fn rotate_many(&mut self, a: &B::Operand, steps: &[i32]) -> Result<Vec<B::Operand>, CircuitError> {
        turns(self, steps)?;
        if steps.is_empty() { Ok(Vec::new()) } else { Ok(self.rotated_many(a, steps)?) }
    }

    fn swap_rows(&mut self, a: &B::Operand) -> Result<B::Operand, CircuitError> {
        Ok(self.rotated(a, 0)?)
    }
}

/// Refuses steps that are not rotations of the machine's rows.
fn turns<M: Machine>(machine: &M, steps: &[i32]) -> Result<(), EvalError> {
    let row = machine.slots().1;
    match steps.iter().find(|step| **step == 0 || step.unsigned_abs() as usize >= row) {
        Some(step) => Err(EvalError::Step { step: *step, row }),
        None => Ok(()),
    }
}
