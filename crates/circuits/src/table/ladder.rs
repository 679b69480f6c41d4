//! Powers of one vector on as few primes as the noise allows, and the polynomials of them.

use std::collections::{BTreeMap, BTreeSet};

use sotto_ring::Modulus;

use super::split::{Sum, Weights, of_weights};
use crate::error::CircuitError;
use crate::machine::Machine;
use crate::powers::halves;

/// A vector at a level. Its slots are the factor times the value, modulo t: primes that are dropped change the factor in
/// BGV, and weights make up for that.
struct Tracked<V> {
    vector: V,
    level: usize,
    factor: u64,
}

/// Powers of one vector, each with the copies at lower levels that were needed.
pub(super) struct Ladder<M: Machine> {
    t: Modulus,
    /// The copies of each power, from the highest level down.
    powers: BTreeMap<usize, Vec<Tracked<M::Vector>>>,
}

impl<M: Machine<Value = i64>> Ladder<M> {
    pub(super) fn new(machine: &mut M, t: Modulus, first: M::Vector) -> Self {
        let mut ladder = Self { t, powers: BTreeMap::new() };
        let first = ladder.tracked(machine, first, 1);
        ladder.powers.insert(1, vec![first]);
        ladder
    }

    /// Moves the plaintext factor of a vector into the tracked one.
    fn tracked(&self, machine: &mut M, mut vector: M::Vector, factor: u64) -> Tracked<M::Vector> {
        let moved = self.t.from_signed(machine.replace_factor(&mut vector, 1));
        let level = machine.level(&vector);
        Tracked { vector, level, factor: self.t.multiply(factor, moved) }
    }

    fn lowered(
        &self,
        machine: &mut M,
        a: &Tracked<M::Vector>,
        level: usize,
    ) -> Result<Tracked<M::Vector>, CircuitError> {
        let vector = machine.lower(&a.vector, level)?;
        Ok(self.tracked(machine, vector, a.factor))
    }

    /// Returns the copy at the highest level.
    fn whole(&self, power: usize) -> &Tracked<M::Vector> {
        &self.powers[&power][0]
    }

    /// Returns the copy at a level, which was brought there.
    fn at(&self, power: usize, level: usize) -> &Tracked<M::Vector> {
        let copies = &self.powers[&power];
        copies.iter().find(|copy| copy.level == level).unwrap_or(&copies[0])
    }

    /// Makes the copy at a level, of the lowest one above it.
    fn bring(&mut self, machine: &mut M, power: usize, level: usize) -> Result<(), CircuitError> {
        let copies = &self.powers[&power];
        let place = copies.iter().position(|copy| copy.level <= level).unwrap_or(copies.len());
        if copies.get(place).is_some_and(|copy| copy.level == level) {
            return Ok(());
        }
        let above = &copies[place.saturating_sub(1)];
        let copy = self.lowered(machine, above, level)?;
        if let Some(copies) = self.powers.get_mut(&power) {
            copies.insert(place, copy);
        }
        Ok(())
    }

    /// Computes a power, and the powers that it needs.
    fn make(&mut self, machine: &mut M, power: usize) -> Result<(), CircuitError> {
        if self.powers.contains_key(&power) {
            return Ok(());
        }
        let (high, low) = halves(power);
        self.make(machine, high)?;
        self.make(machine, low)?;
        let level = machine.thrifty_level(&self.whole(high).vector, &self.whole(low).vector)?;
        self.bring(machine, high, level)?;
        self.bring(machine, low, level)?;
        let (a, b) = (self.at(high, level), self.at(low, level));
        let factor = self.t.multiply(a.factor, b.factor);
        let product = machine.sum_of_products_to_multiply(&[(&a.vector, &b.vector)])?;
        let made = self.tracked(machine, product, factor);
        self.powers.insert(power, vec![made]);
        Ok(())
    }

    /// Returns the value of a polynomial that is not constant.
    pub(super) fn value(&mut self, machine: &mut M, sum: &Sum) -> Result<M::Vector, CircuitError> {
        let mut value = self.sum(machine, sum, false)?;
        machine.replace_factor(&mut value.vector, self.t.centre(value.factor));
        Ok(value.vector)
    }

    /// Returns the value of a polynomial; `again`: it is multiplied again.
    fn sum(&mut self, machine: &mut M, sum: &Sum, again: bool) -> Result<Tracked<M::Vector>, CircuitError> {
        let nested = match &sum.nested {
            Some((power, nested)) => Some((*power, self.sum(machine, nested, true)?)),
            None => None,
        };
        for power in sum.powers() {
            self.make(machine, power)?;
        }
        let mut level = sum.weights.iter().map(|(power, _)| self.whole((*power).max(1)).level).min();
        let mut at_most = |new: usize| level = Some(level.map_or(new, |level| level.min(new)));
        for (power, _) in &sum.leaves {
            let giant = &self.whole(*power).vector;
            at_most(machine.thrifty_level(giant, giant)?);
        }
        if let Some((power, nested)) = &nested {
            at_most(machine.thrifty_level(&nested.vector, &self.whole(*power).vector)?);
        }
        let level = level.unwrap_or(0);
        let Some(products) = self.products(machine, sum, nested, level, again)? else {
            return self.leaf(machine, &sum.weights, level, 1);
        };
        if sum.weights.is_empty() {
            return Ok(products);
        }
        let leaf = self.leaf(machine, &sum.weights, products.level, products.factor)?;
        let both = machine.add(&products.vector, &leaf.vector)?;
        machine.recycle(products.vector);
        machine.recycle(leaf.vector);
        Ok(self.tracked(machine, both, products.factor))
    }

    /// Returns the sum of all products; None if there is none. `again`: it is multiplied again.
    fn products(
        &mut self,
        machine: &mut M,
        sum: &Sum,
        nested: Option<(usize, Tracked<M::Vector>)>,
        level: usize,
        again: bool,
    ) -> Result<Option<Tracked<M::Vector>>, CircuitError> {
        let mut factors = Vec::with_capacity(sum.products());
        // The factor of the sum follows from the nested polynomial; the leaves' weights are chosen to match it.
        let mut factor = 1;
        if let Some((power, nested)) = nested {
            self.bring(machine, power, level)?;
            let lowered = self.lowered(machine, &nested, level)?;
            machine.recycle(nested.vector);
            factor = self.t.multiply(lowered.factor, self.at(power, level).factor);
            factors.push((power, lowered));
        }
        let mut leaves = Vec::with_capacity(sum.leaves.len());
        for (power, weights) in &sum.leaves {
            self.bring(machine, *power, level)?;
            leaves.push((weights, self.over(factor, self.at(*power, level).factor)));
        }
        let leaves = self.leaves(machine, &leaves, level)?;
        factors.extend(sum.leaves.iter().map(|(power, _)| *power).zip(leaves));
        if factors.is_empty() {
            return Ok(None);
        }
        let terms: Vec<_> =
            factors.iter().map(|(power, f)| (&f.vector, &self.at(*power, level).vector)).collect();
        let products = if again {
            machine.sum_of_products_to_multiply(&terms)?
        } else {
            machine.sum_of_products(&terms)?
        };
        factors.into_iter().for_each(|(_, factor)| machine.recycle(factor.vector));
        Ok(Some(self.tracked(machine, products, factor)))
    }

    /// Returns weighted sums of powers, each with its factor.
    fn leaves(
        &mut self,
        machine: &mut M,
        leaves: &[(&Weights, u64)],
        level: usize,
    ) -> Result<Vec<Tracked<M::Vector>>, CircuitError> {
        if leaves.is_empty() {
            return Ok(Vec::new());
        }
        let powers: BTreeSet<usize> = leaves.iter().flat_map(|(weights, _)| of_weights(weights)).collect();
        for power in &powers {
            self.bring(machine, *power, level)?;
        }
        let copies: Vec<&Tracked<M::Vector>> = powers.iter().map(|power| self.at(*power, level)).collect();
        let row = |(weights, factor): &(&Weights, u64)| {
            let mut row = vec![0; copies.len()];
            for (place, (power, copy)) in powers.iter().zip(&copies).enumerate() {
                if let Ok(found) = weights.binary_search_by_key(power, |(power, _)| *power) {
                    let weight = self.t.multiply(weights[found].1, *factor);
                    row[place] = self.t.centre(self.over(weight, copy.factor));
                }
            }
            row
        };
        let rows: Vec<Vec<i64>> = leaves.iter().map(row).collect();
        let vectors: Vec<&M::Vector> = copies.iter().map(|copy| &copy.vector).collect();
        let sums = machine.weighted_sums(&vectors, &rows)?;
        let mut tracked = Vec::with_capacity(sums.len());
        for (mut vector, (weights, factor)) in sums.into_iter().zip(leaves) {
            if let Some((0, constant)) = weights.first() {
                let constant = self.t.centre(self.t.multiply(*constant, *factor));
                let shifted = machine.add_constant(&vector, constant)?;
                machine.recycle(core::mem::replace(&mut vector, shifted));
            }
            tracked.push(Tracked { vector, level, factor: *factor });
        }
        Ok(tracked)
    }

    fn leaf(
        &mut self,
        machine: &mut M,
        weights: &Weights,
        level: usize,
        factor: u64,
    ) -> Result<Tracked<M::Vector>, CircuitError> {
        let leaves = self.leaves(machine, &[(weights, factor)], level)?;
        leaves.into_iter().next().ok_or(CircuitError::Constant)
    }

    fn over(&self, a: u64, b: u64) -> u64 {
        self.t.multiply(a, self.t.invert_vartime(b).unwrap_or(1))
    }

    /// Returns the buffers.
    pub(super) fn recycle(self, machine: &mut M) {
        self.powers.into_values().flatten().for_each(|copy| machine.recycle(copy.vector));
    }
}
