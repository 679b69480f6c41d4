//! The decomposition of a polynomial modulo t: Paterson and Stockmeyer's (SIAM Journal on Computing 2, 1973), of least
//! depth, with one relinearisation for each sum of products.
//!
//! p = Σ_j leaf_j·x^(j·m) + x^(2^(b−1))·(the same form), with leaves of degree below m and powers of depth below b, the
//! depth of p. A leaf is a weighted sum of powers, which costs no product.

use std::collections::BTreeSet;

use crate::polynomial::Cost;
use crate::powers::{depth, halves};

/// Coefficients by power, 0 included; none is zero.
pub(super) type Weights = Vec<(usize, u64)>;

/// The form Σ c·x^k + Σ factor·x^power.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) weights: Weights,
    /// The leaf of each power.
    pub(super) leaves: Vec<(usize, Weights)>,
    /// The power and the factor of the highest part, if it is longer than a leaf.
    pub(super) nested: Option<(usize, Box<Self>)>,
}

/// Returns the depth of a polynomial of this many coefficients.
pub(super) fn depth_of(coefficients: usize) -> usize {
    depth(coefficients.saturating_sub(1).max(1))
}

impl Sum {
    /// Returns the splits of least cost of polynomials that share powers.
    pub(super) fn best(polynomials: &[Vec<u64>]) -> Vec<Self> {
        let longest = polynomials.iter().map(Vec::len).max().unwrap_or(0);
        let sizes =
            core::iter::successors(Some(2), |size| Some(2 * size)).take_while(|size| *size < 2 * longest);
        let split = |leaf: usize| polynomials.iter().map(|c| Self::of(c, leaf)).collect::<Vec<_>>();
        sizes.map(split).min_by_key(|sums| cost(sums, depth_of(longest))).unwrap_or_default()
    }

    /// Splits with leaves of `leaf` coefficients, a power of two.
    pub(super) fn of(coefficients: &[u64], leaf: usize) -> Self {
        Self::within(coefficients, leaf, depth_of(coefficients.len()))
    }

    /// Splits a polynomial whose degree is at most 2^budget.
    fn within(coefficients: &[u64], leaf: usize, budget: usize) -> Self {
        let mut sum = Self { weights: nonzero(coefficients, leaf), leaves: Vec::new(), nested: None };
        let mut power = leaf;
        while power < coefficients.len() {
            let rest = &coefficients[power..];
            let last = 2 * power >= 1 << budget;
            if last && rest.len() > leaf {
                sum.nested = Some((power, Box::new(Self::within(rest, leaf, budget - 1))));
                break;
            }
            let terms = nonzero(rest, leaf);
            match terms.as_slice() {
                [] => {}
                [(0, constant)] => sum.weights.push((power, *constant)),
                _ => sum.leaves.push((power, terms)),
            }
            power += leaf;
        }
        sum
    }

    /// Returns the powers of this form and of the nested one.
    pub(super) fn powers(&self) -> BTreeSet<usize> {
        let mut powers = of_weights(&self.weights);
        for (power, weights) in &self.leaves {
            powers.insert(*power);
            powers.extend(of_weights(weights));
        }
        if let Some((power, nested)) = &self.nested {
            powers.insert(*power);
            powers.extend(nested.powers());
        }
        powers
    }

    /// Returns the number of products of this form, and whether it is relinearised.
    pub(super) fn products(&self) -> usize {
        self.leaves.len() + usize::from(self.nested.is_some())
    }
}

/// Returns the powers above 0.
pub(super) fn of_weights(weights: &Weights) -> BTreeSet<usize> {
    weights.iter().map(|(power, _)| *power).filter(|power| *power > 0).collect()
}

/// Returns the cost of polynomials that share powers.
pub(super) fn cost_of(sums: &[Sum]) -> Cost {
    let powers = made(sums.iter().flat_map(Sum::powers)).len();
    let (mut products, mut relinearisations) = (powers, powers);
    for sum in sums {
        let mut part = Some(sum);
        while let Some(sum) = part {
            products += sum.products();
            relinearisations += usize::from(sum.products() > 0);
            part = sum.nested.as_ref().map(|(_, nested)| &**nested);
        }
    }
    Cost { depth: 0, products, relinearisations }
}

/// Returns the nonzero coefficients among the first ones.
fn nonzero(coefficients: &[u64], first: usize) -> Weights {
    coefficients.iter().copied().take(first).enumerate().filter(|(_, c)| *c != 0).collect()
}

/// Returns all powers above 1 that are computed to reach these.
pub(super) fn made(powers: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    fn add(made: &mut BTreeSet<usize>, power: usize) {
        if power > 1 && made.insert(power) {
            let (high, low) = halves(power);
            add(made, high);
            add(made, low);
        }
    }
    let mut all = BTreeSet::new();
    powers.into_iter().for_each(|power| add(&mut all, power));
    all
}

/// Returns the relative time of the powers and sums: a relinearisation on p primes takes about p² + 3·p units, a product
/// of two ciphertexts p (BGV); a result of depth d is computed on two primes more than the depth that is left.
fn cost(sums: &[Sum], depth_of_all: usize) -> usize {
    let primes = |of: usize| depth_of_all + 3 - of.min(depth_of_all);
    let step = |products: usize, of: usize| primes(of) * (primes(of) + 3 + products);
    let powers: BTreeSet<usize> = made(sums.iter().flat_map(Sum::powers));
    let mut total: usize = powers.iter().map(|power| step(1, depth(*power))).sum();
    for sum in sums {
        let (mut part, mut of) = (Some(sum), depth_of_all);
        while let Some(sum) = part {
            total += if sum.products() > 0 { step(sum.products(), of) } else { 0 };
            part = sum.nested.as_ref().map(|(_, nested)| &**nested);
            of = of.saturating_sub(1);
        }
    }
    total
}
