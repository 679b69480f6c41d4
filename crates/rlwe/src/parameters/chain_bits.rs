//! A chain given by bit lengths, and its primes: docs/math/conventions.md, "Primes of a default chain".

use alloc::vec::Vec;

use sotto_ring::primes;

use super::identity::SchemeId;
use super::scale_ratio::ScaleRatio;

/// The numbers and bit lengths of a chain's primes.
///
/// Example: [`DefaultChain`](crate::DefaultChain)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainBits {
    /// The degree n.
    pub degree: usize,
    /// Bits of each special prime, and their number.
    pub special: (u32, usize),
    /// Bits of q_0.
    pub first: u32,
    /// Bits of each other data prime (CKKS: of the scale), and their number.
    pub others: (u32, usize),
}

/// The special primes and the data primes of a chain.
pub(super) type ChainPrimes = (Vec<u64>, Vec<u64>);

impl ChainBits {
    /// Returns the bits of all data primes.
    pub fn data_bits(&self) -> u32 {
        self.first + self.others.0 * self.others.1 as u32
    }

    /// Returns the bits of all special primes.
    pub fn special_bits(&self) -> u32 {
        self.special.0 * self.special.1 as u32
    }

    /// Returns the bits of all primes, an upper bound on log2 of the whole modulus.
    pub fn modulus_bits(&self) -> u32 {
        self.data_bits() + self.special_bits()
    }

    /// Returns the primes of a scheme's chain; fewer if not enough exist.
    pub(super) fn primes(&self, scheme: SchemeId) -> ChainPrimes {
        if scheme.is_exact() { self.integer_primes() } else { self.real_primes() }
    }

    /// Takes primes in descending order from 2^b, the special primes first.
    fn integer_primes(&self) -> ChainPrimes {
        let mut used = Vec::new();
        let mut take = |bits: u32, count: usize| take_below(1 << bits, count, self.degree, &mut used);
        let special = take(self.special.0, self.special.1);
        let mut data = take(self.first, 1);
        data.extend(take(self.others.0, self.others.1));
        (special, data)
    }

    /// Takes the scale primes from the top level down, each the unused prime nearest to Δ_l²/Δ; then special primes and
    /// q_0 from 2^b·(1 − 2^-10) downwards, which keeps the sum under the table's limit.
    fn real_primes(&self) -> ChainPrimes {
        let (bits, count) = self.others;
        let mut used: Vec<u64> = Vec::new();
        let mut ratio = ScaleRatio::ONE;
        for _ in 0..count {
            let (whole, fraction) = ratio.prime_target(bits);
            let Some(nearest) = nearest_prime(whole, fraction, self.degree, &used) else { break };
            used.push(nearest);
            match ratio.below(nearest, bits) {
                Some(below) => ratio = below,
                None => break,
            }
        }
        let scale_primes: Vec<u64> = used.iter().rev().copied().collect();
        let mut take = |bits: u32, count: usize| {
            let ceiling = (1u64 << bits) - (1u64 << bits.saturating_sub(10));
            take_below(ceiling, count, self.degree, &mut used)
        };
        let special = take(self.special.0, self.special.1);
        let mut data = take(self.first, 1);
        data.extend(scale_primes);
        (special, data)
    }
}

fn take_below(ceiling: u64, count: usize, degree: usize, used: &mut Vec<u64>) -> Vec<u64> {
    let found: Vec<u64> = primes::below(ceiling, degree).filter(|p| !used.contains(p)).take(count).collect();
    used.extend_from_slice(&found);
    found
}

/// Returns the unused prime nearest to whole + fraction·2^-128, the smaller one at a tie, or None above 2^61.
fn nearest_prime(whole: u64, fraction: u128, degree: usize, used: &[u64]) -> Option<u64> {
    let below = primes::below(whole, degree).find(|p| !used.contains(p));
    let above = primes::above(whole, degree).take_while(|p| *p >> 61 == 0).find(|p| !used.contains(p));
    match (below, above) {
        (Some(below), Some(above)) => {
            // `below` is at least as near if 2·(whole + fraction) ≤ below + above.
            let slack = i128::from(below) + i128::from(above) - 2 * i128::from(whole);
            let nearer = slack >= 2 || (slack == 1 && fraction <= 1 << 127) || (slack == 0 && fraction == 0);
            Some(if nearer { below } else { above })
        }
        (below, above) => below.or(above),
    }
}
