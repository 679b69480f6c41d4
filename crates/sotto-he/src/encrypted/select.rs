//! Vectors of chosen values of another: masks, rotations, repetition.

use sotto_circuits::{CircuitError, Machine};
use std::collections::BTreeMap;

use super::schedule::{Giants, Schedule, ancestors, lowest_bit, parent};
use super::work::{Operands, Operation, Outcome, decodes, outline, run};
use super::{Encrypted, Facts};
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;

/// A schedule with the value of the masks.
struct Selection<'a, V> {
    schedule: &'a Schedule,
    mask: V,
}

impl<S: Arithmetic> Operation<S> for Selection<'_, S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let schedule = self.schedule;
        let missing: Vec<i32> =
            schedule.steps().into_iter().filter(|step| !machine.can_rotate(*step)).collect();
        if !missing.is_empty() {
            return Err(CircuitError::MissingKeys { steps: missing });
        }
        let sources = Rotated::of(machine, operands[0], schedule)?;
        let mut results = Vec::with_capacity(schedule.parts.len());
        for [straight, swapped] in &schedule.parts {
            let mut total = None;
            if !straight.is_empty() {
                total = Some(self.gathered(machine, &sources, straight)?);
            }
            if !swapped.is_empty() {
                let other = self.gathered(machine, &sources, swapped)?;
                let moved = machine.swap_rows(&other)?;
                machine.recycle(other);
                total = Some(joined(machine, total, moved)?);
            }
            let mut total = total.ok_or(CircuitError::Empty("a selection"))?;
            for step in &schedule.repeats {
                let moved = machine.rotate(&total, *step)?;
                total = joined(machine, Some(total), moved)?;
            }
            if schedule.joins_rows {
                let moved = machine.swap_rows(&total)?;
                total = joined(machine, Some(total), moved)?;
            }
            results.push(total);
        }
        sources.babies.into_values().for_each(|vector| machine.recycle(vector));
        Ok(results)
    }
}

impl<V: Copy + Default> Selection<'_, V> {
    /// Masks the rotated sources, and rotates the sums by their giant steps: the largest first, each by its lowest bit, so
    /// that giant steps share rotations and few sums are held at a time.
    fn gathered<M: Machine<Value = V>>(
        &self,
        machine: &mut M,
        sources: &Rotated<'_, M::Vector>,
        giants: &Giants,
    ) -> Result<M::Vector, CircuitError> {
        let mut pending: BTreeMap<usize, Option<M::Vector>> =
            ancestors(giants.keys().copied()).into_iter().chain([0]).map(|giant| (giant, None)).collect();
        while let Some((giant, arrived)) = pending.pop_last() {
            let own = match giants.get(&giant) {
                Some(terms) => Some(self.masked(machine, sources, giant, terms)?),
                None => None,
            };
            let total = match (arrived, own) {
                (arrived, Some(own)) => joined(machine, arrived, own)?,
                (Some(arrived), None) => arrived,
                (None, None) => continue,
            };
            if giant == 0 {
                return Ok(total);
            }
            let moved = machine.rotate(&total, lowest_bit(giant))?;
            machine.recycle(total);
            let above = pending.remove(&parent(giant)).flatten();
            let sum = joined(machine, above, moved)?;
            pending.insert(parent(giant), Some(sum));
        }
        Err(CircuitError::Empty("a selection"))
    }

    /// Adds up the masked sources of one giant step.
    fn masked<M: Machine<Value = V>>(
        &self,
        machine: &mut M,
        sources: &Rotated<'_, M::Vector>,
        giant: usize,
        terms: &BTreeMap<(usize, usize), Vec<usize>>,
    ) -> Result<M::Vector, CircuitError> {
        let (rows, columns) = machine.slots();
        let mut total = None;
        for (&(part, step), slots) in terms {
            let rotated = sources.at(part, step)?;
            let term = if self.schedule.whole {
                machine.copy(rotated)
            } else {
                let mut mask = vec![V::default(); rows * columns];
                for slot in slots {
                    // Compensates the giant step, which rotates the product afterwards.
                    mask[slot - slot % columns + (slot + giant) % columns] = self.mask;
                }
                machine.multiply_vector(rotated, &mask)?
            };
            total = Some(joined(machine, total, term)?);
        }
        total.ok_or(CircuitError::Empty("a selection"))
    }
}

/// The parts of the source, rotated by baby steps.
struct Rotated<'a, V> {
    parts: &'a [V],
    /// By part and step; without step 0.
    babies: BTreeMap<(usize, usize), V>,
}

impl<'a, V> Rotated<'a, V> {
    fn of<M: Machine<Vector = V>>(
        machine: &mut M,
        parts: &'a [V],
        schedule: &Schedule,
    ) -> Result<Self, CircuitError> {
        let mut rotated = Self { parts, babies: BTreeMap::new() };
        for (part, steps) in &schedule.babies {
            // Rotations of one vector share its decomposition.
            let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            steps.iter().for_each(|step| children.entry(parent(*step)).or_default().push(*step));
            for (from, steps) in children {
                let turns: Vec<i32> = steps.iter().map(|step| lowest_bit(*step)).collect();
                let moved = machine.rotate_many(rotated.at(*part, from)?, &turns)?;
                rotated.babies.extend(steps.iter().map(|step| (*part, *step)).zip(moved));
            }
        }
        Ok(rotated)
    }

    fn at(&self, part: usize, step: usize) -> Result<&V, CircuitError> {
        let found = if step == 0 { self.parts.get(part) } else { self.babies.get(&(part, step)) };
        found.ok_or(CircuitError::Empty("a selection"))
    }
}

fn joined<M: Machine>(
    machine: &mut M,
    total: Option<M::Vector>,
    term: M::Vector,
) -> Result<M::Vector, CircuitError> {
    let Some(total) = total else { return Ok(term) };
    let sum = machine.add(&total, &term)?;
    machine.recycle(total);
    machine.recycle(term);
    Ok(sum)
}

impl<S: Arithmetic> Encrypted<S> {
    /// Returns the values with these indices: value i of the result is value `indices[i]` of this vector. Indices may
    /// repeat and stand in any order; the result may be longer than the vector.
    ///
    /// Cost: one level, and none if only whole ciphertexts are rotated. A range of consecutive values takes one product with
    /// a plain vector and at most log2 P rotations, where P is the length of the vector, rounded up to a power of two. A
    /// selection with d different offsets `indices[i]` − i takes d products and about 2·√d rotations if the offsets lie
    /// close together, d·log2 P at most. Of a vector longer than a row (n/2 values), every ciphertext of the source and of
    /// the result takes as many. In CKKS the bound on the error grows d-fold.
    ///
    /// # Errors
    /// [`Error::Index`] for an index that the vector does not have; [`Error::Count`] for no index or too many;
    /// [`Error::NoKeys`] without evaluation keys; [`Error::Depth`] without room.
    ///
    /// ```
    /// # use sotto::{Bfv, Context};
    /// # let context = Context::<Bfv>::for_depth(1)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[10, 11, 12, 13, 14])?;
    /// assert_eq!(secret.decrypt(&x.select(&[1, 2, 3])?)?.values(), [11, 12, 13]);
    /// assert_eq!(secret.decrypt(&x.select(&[4, 0, 0, 3, 2, 1, 4])?)?.values(), [14, 10, 10, 13, 12, 11, 14]);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn select(&self, indices: &[usize]) -> Result<Self> {
        let facts = &self.facts;
        if let Some(index) = indices.iter().copied().find(|index| *index >= facts.len) {
            return Err(Error::Index { index, len: facts.len });
        }
        let fresh = Facts::fresh(&self.context, indices.len())?;
        if indices.iter().copied().eq(0..facts.len) {
            return Ok(self.clone());
        }
        let offset = facts.offset.select(indices);
        if facts.is_public() {
            return self.public(fresh.len, offset);
        }
        let schedule = Schedule::of(&self.context, facts.len, indices);
        let plain = Selection { schedule: &schedule, mask: S::number(1.0) };
        // Masked slots do not meet, but their bounds add up. Masks shrink the slots where that leaves no room.
        let factor = (-(schedule.terms() as f64).log2().ceil()).exp2();
        let within = facts.slots_within();
        let params = self.context.params();
        let fits = |work: &Selection<'_, S::Value>| {
            let (shapes, _) = outline(&[self], work)?;
            shapes.iter().try_for_each(|shape| decodes(params, &S::bounded(params, *shape, within)))
        };
        let shrinks = !S::EXACT && !schedule.whole && fits(&plain).is_err_and(|error: Error| error.is_room());
        let (work, unit) = if shrinks {
            (Selection { schedule: &schedule, mask: S::number(factor) }, facts.unit / factor)
        } else {
            (plain, facts.unit)
        };
        let body = run(&[self], &work)?;
        let range = facts.range;
        let facts = Facts { len: fresh.len, zero_padded: true, unit, offset, ..facts.clone() }.finite()?;
        let facts = Facts { range, ..facts };
        let body = body.bounded(params, facts.slots_within());
        Ok(Self::new(&self.context, facts, body))
    }
}
