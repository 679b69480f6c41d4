//! The decomposition of a polynomial, chosen from its coefficients before any computation.

use std::collections::BTreeSet;

use super::Cost;
use crate::machine::{Machine, Number};
use crate::powers::{depth, halves};

/// The form Σ weight·x^power + Σ split·x^power + constant, with at least one term beside the constant.
#[derive(Debug)]
pub(super) struct Split<V> {
    pub(super) weights: Vec<(usize, V)>,
    pub(super) products: Vec<(usize, Self)>,
    pub(super) constant: Option<V>,
    /// The depth of the whole form.
    depth: usize,
}

/// Returns the split with the fewest products and, among those, the least depth. Tries every leaf size that is a power
/// of two.
pub(super) fn best<M: Machine>(machine: &M, coefficients: &[M::Value]) -> Split<M::Value> {
    let degree = coefficients.len() - 1;
    let whole_depth = machine.weighting_depth(&coefficients[1..]);
    // If weights take no level, x^(2^k) needs no more levels than the power itself.
    let budget = if whole_depth == 0 { depth(degree) } else { depth(degree + 1) };
    let sizes = core::iter::successors(Some(1), |size| Some(2 * size)).take_while(|size| *size <= 2 * degree);
    sizes
        .map(|size| split(machine, coefficients, budget, size))
        .min_by_key(|split| {
            let cost = split.cost();
            (cost.products, cost.relinearisations, cost.depth)
        })
        .expect("there is a size of 1")
}

/// Splits with leaves of fewer than `size` coefficients where the budget of levels allows them. Range: the last
/// coefficient is not zero; the budget is at least the depth of a balanced tree.
fn split<M: Machine>(machine: &M, coefficients: &[M::Value], budget: usize, size: usize) -> Split<M::Value> {
    let zero = M::Value::default();
    let mut products = Vec::new();
    let mut weights: Vec<(usize, M::Value)> = Vec::new();
    let mut rest = trimmed(coefficients);
    while rest.len() > 1 {
        let degree = rest.len() - 1;
        if degree == 1 || (degree < size && leaf_depth(machine, rest) <= budget) {
            let leaf = rest.iter().enumerate().skip(1).filter(|(_, c)| **c != zero);
            weights.extend(leaf.map(|(power, weight)| (power, *weight)));
            break;
        }
        let power = 1 << (usize::BITS - 1 - degree.leading_zeros());
        let (low, high) = rest.split_at(power);
        match high {
            [weight] => weights.push((power, *weight)),
            _ => products.push((power, split(machine, high, budget - 1, size))),
        }
        rest = trimmed(low);
    }
    let constant = coefficients.first().copied().filter(|c| *c != zero);
    let weighted: Vec<M::Value> = weights.iter().map(|(_, weight)| *weight).collect();
    let highest = weights.iter().map(|(power, _)| depth(*power)).max();
    let of_weights = highest.map_or(0, |highest| highest + machine.weighting_depth(&weighted));
    let of_products = products.iter().map(|(power, factor)| depth(*power).max(factor.depth) + 1).max();
    Split { weights, products, constant, depth: of_weights.max(of_products.unwrap_or(0)) }
}

fn trimmed<V: Number>(coefficients: &[V]) -> &[V] {
    let used = coefficients.iter().rposition(|c| *c != V::default()).map_or(0, |last| last + 1);
    &coefficients[..used]
}

fn leaf_depth<M: Machine>(machine: &M, coefficients: &[M::Value]) -> usize {
    depth(coefficients.len() - 1) + machine.weighting_depth(&coefficients[1..])
}

impl<V> Split<V> {
    /// Returns the powers that are multiplied or weighted, ascending.
    pub(super) fn powers(&self) -> BTreeSet<usize> {
        let mut powers: BTreeSet<usize> = self.weights.iter().map(|(power, _)| *power).collect();
        for (power, factor) in &self.products {
            powers.insert(*power);
            powers.extend(factor.powers());
        }
        powers
    }

    pub(super) fn cost(&self) -> Cost {
        let mut made = BTreeSet::new();
        self.powers().into_iter().for_each(|power| add_power(&mut made, power));
        let (products, sums) = self.nested();
        Cost { depth: self.depth, products: made.len() + products, relinearisations: made.len() + sums }
    }

    /// Returns the number of products with powers, and of sums of such products.
    fn nested(&self) -> (usize, usize) {
        let own = (self.products.len(), usize::from(!self.products.is_empty()));
        self.products.iter().map(|(_, factor)| factor.nested()).fold(own, |a, b| (a.0 + b.0, a.1 + b.1))
    }
}

/// Adds a power above 1, and the powers that it is computed from.
fn add_power(made: &mut BTreeSet<usize>, power: usize) {
    if power > 1 && made.insert(power) {
        let (high, low) = halves(power);
        add_power(made, high);
        add_power(made, low);
    }
}
