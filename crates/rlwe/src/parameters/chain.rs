//! The default chains: for each degree, primes that fit the 128-bit row of the security table.

use sotto_ring::primes;

use super::identity::SchemeId;
use super::spec::ParameterSpec;
use crate::error::ParameterError;

/// A default chain in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultChain {
    /// n.
    pub degree: usize,
    /// Bits of each special prime, and how many.
    pub special: (u32, usize),
    /// Bits of q_0.
    pub first: u32,
    /// Bits of the other data primes (CKKS: of the scale), and how many.
    pub others: (u32, usize),
}

const INTEGER: [DefaultChain; 6] = [
    DefaultChain { degree: 1024, special: (0, 0), first: 26, others: (0, 0) },
    DefaultChain { degree: 2048, special: (0, 0), first: 50, others: (0, 0) },
    DefaultChain { degree: 4096, special: (36, 1), first: 35, others: (35, 1) },
    DefaultChain { degree: 8192, special: (46, 1), first: 42, others: (42, 3) },
    DefaultChain { degree: 16384, special: (43, 2), first: 43, others: (43, 7) },
    DefaultChain { degree: 32768, special: (43, 4), first: 43, others: (43, 15) },
];

const REAL: [DefaultChain; 4] = [
    DefaultChain { degree: 4096, special: (38, 1), first: 38, others: (30, 1) },
    DefaultChain { degree: 8192, special: (50, 1), first: 50, others: (38, 3) },
    DefaultChain { degree: 16384, special: (50, 2), first: 50, others: (40, 7) },
    DefaultChain { degree: 32768, special: (50, 4), first: 50, others: (40, 15) },
];

impl DefaultChain {
    /// The chains of a scheme, smallest degree first.
    pub fn all(scheme: SchemeId) -> &'static [Self] {
        match scheme {
            SchemeId::Bfv | SchemeId::Bgv => &INTEGER,
            SchemeId::Ckks => &REAL,
        }
    }

    /// The parameters of a scheme's default chain. `plain_modulus` is t; CKKS ignores it, its scale comes with the chain.
    pub fn spec(
        scheme: SchemeId,
        degree: usize,
        plain_modulus: u64,
    ) -> Result<ParameterSpec, ParameterError> {
        let chain = Self::all(scheme).iter().find(|c| c.degree == degree);
        let defined = match scheme {
            SchemeId::Ckks => "4096, 8192, 16384 and 32768",
            _ => "1024, 2048, 4096, 8192, 16384 and 32768",
        };
        let chain = chain.ok_or(ParameterError::NoDefaultChain { scheme, degree, defined })?;
        let (special, data, plain) = match scheme {
            SchemeId::Ckks => {
                let (special, data) = chain.real_primes();
                (special, data, u64::from(chain.others.0))
            }
            _ => {
                let (special, data) = chain.integer_primes();
                (special, data, plain_modulus)
            }
        };
        Ok(ParameterSpec { scheme, degree, digit_primes: special.len().max(1), special, data, plain })
    }

    /// Descending from 2^b, the special primes first.
    fn integer_primes(&self) -> (Vec<u64>, Vec<u64>) {
        let mut used = Vec::new();
        let mut take = |bits: u32, count: usize| {
            let found: Vec<u64> =
                primes::below(1 << bits, self.degree).filter(|p| !used.contains(p)).take(count).collect();
            used.extend_from_slice(&found);
            found
        };
        let special = take(self.special.0, self.special.1);
        let mut data = take(self.first, 1);
        data.extend(take(self.others.0, self.others.1));
        (special, data)
    }

    /// Scale primes top down, each the unused prime nearest to Δ_l²/Δ; then special primes and q_0 from
    /// 2^b·(1 − 2^-10) downwards, which keeps the sum under the table's limit.
    fn real_primes(&self) -> (Vec<u64>, Vec<u64>) {
        let (bits, count) = self.others;
        let scale = (1u64 << bits) as f64;
        let mut used: Vec<u64> = Vec::new();
        let mut deviation = 0.0; // Δ_l/Δ − 1
        for _ in 0..count {
            // Δ_l²/Δ = Δ·(1 + d)², as an offset from Δ.
            let target = scale * (2.0 * deviation + deviation * deviation);
            let nearest = nearest_prime(1 << bits, target, self.degree, &used);
            let ratio = (nearest as f64 - scale) / scale;
            deviation = (2.0 * deviation + deviation * deviation - ratio) / (1.0 + ratio);
            used.push(nearest);
        }
        let scale_primes: Vec<u64> = used.iter().rev().copied().collect();
        let mut take = |bits: u32, count: usize| {
            let ceiling = (1u64 << bits) - (1u64 << (bits - 10));
            let found: Vec<u64> =
                primes::below(ceiling, self.degree).filter(|p| !used.contains(p)).take(count).collect();
            used.extend_from_slice(&found);
            found
        };
        let special = take(self.special.0, self.special.1);
        let mut data = take(self.first, 1);
        data.extend(scale_primes);
        (special, data)
    }
}

/// The unused prime nearest to base + offset, the smaller one at a tie.
fn nearest_prime(base: u64, offset: f64, degree: usize, used: &[u64]) -> u64 {
    let centre = base.saturating_add_signed(offset.floor() as i64);
    let distance = |p: u64| (p as f64 - base as f64 - offset).abs();
    let below = primes::below(centre, degree).find(|p| !used.contains(p));
    let above = primes::above(centre, degree).find(|p| !used.contains(p)).unwrap_or(u64::MAX);
    match below {
        Some(below) if distance(below) <= distance(above) => below,
        _ => above,
    }
}
