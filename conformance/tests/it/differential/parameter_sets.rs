//! Parameters of the random programs.

use sotto_harness::protocol::{Prepare, Prepared};
use sotto_ring::primes;
use sotto_rlwe::{DefaultChain, SchemeId};

/// The chain of the other engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chain {
    /// Our data primes and our first special prime: SEAL has only one. SEAL reports an exhausted noise budget.
    Same,
    /// Our primes and more. Lattigo does not report noise that exceeds an answer. As a reference it needs no security,
    /// so it has a longer chain, drops a prime after every product, and stays far from the limit.
    Longer,
}

/// Bits of the primes that a longer chain adds, and of its special prime; none of our primes has as many bits.
const LONGER_BITS: u32 = 47;
const LONGER_SPECIAL_BITS: u32 = 60;
/// Number of added primes.
const LONGER_PRIMES: usize = 5;

/// A chain in bits: q_0, size and number of the other data primes, size and number of the special primes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Toy {
    first: u32,
    others: (u32, usize),
    special: (u32, usize),
}

/// One parameter set, and its share of ten programs.
#[derive(Clone, Debug)]
pub(crate) struct ParameterSet {
    pub(crate) degree: usize,
    pub(crate) plain_modulus: Option<u64>,
    /// A long chain below 128 bits for deep programs; None for the default chain.
    toy: Option<Toy>,
    pub(crate) of_ten: usize,
    chain: Chain,
}

impl ParameterSet {
    /// Returns our own engine's prepare request.
    pub(crate) fn request(&self, scheme: SchemeId) -> Prepare {
        let name = scheme.to_string().to_lowercase();
        let rotations = rotations(self.degree / 2);
        let asked = Prepare {
            scheme: name,
            degree: self.degree,
            plain_modulus: self.plain_modulus,
            rotations,
            swap_rows: true,
            ..Prepare::default()
        };
        let Some(toy) = self.toy else {
            let spec = DefaultChain::spec(scheme, self.degree, self.plain_modulus.unwrap_or(0)).unwrap();
            let scale_bits = self.plain_modulus.is_none().then_some(spec.plain as u32);
            return Prepare { data: spec.data, special: spec.special, scale_bits, ..asked };
        };
        let mut data_bits = vec![toy.first];
        data_bits.resize(toy.others.1 + 1, toy.others.0);
        let special_bits = vec![toy.special.0; toy.special.1];
        let scale_bits = self.plain_modulus.is_none().then_some(toy.others.0);
        Prepare { data_bits, special_bits, scale_bits, insecure: true, ..asked }
    }

    /// Returns the other engine's prepare request, given our primes.
    pub(crate) fn request_to_other(&self, scheme: SchemeId, ours: &Prepared) -> Prepare {
        let (mut data, mut special) = (ours.data.clone(), ours.special.clone());
        special.truncate(1);
        if self.chain == Chain::Longer {
            data.extend(primes::below(1 << LONGER_BITS, self.degree).take(LONGER_PRIMES));
            special = primes::below(1 << LONGER_SPECIAL_BITS, self.degree).take(1).collect();
        }
        let none = Vec::new();
        Prepare { data, special, data_bits: none.clone(), special_bits: none, ..self.request(scheme) }
    }

    /// Most operations of a program, before the remaining nodes are summed: on toy parameters they cost little.
    pub(crate) fn operations(&self) -> usize {
        if self.toy.is_some() { 28 } else { 14 }
    }
}

/// Rotation steps with keys: powers of two to the left, some to the right, some others.
fn rotations(columns: usize) -> Vec<i32> {
    let columns = columns as i32;
    let powers = (0..).map(|bit| 1 << bit).take_while(|step| *step < columns);
    powers.chain([-1, -2, -4, 3, 5, -7]).collect()
}

/// For BFV and BGV: the default chains, toy parameters with one special prime, toy parameters with digits of two primes
/// and a large t.
pub(crate) fn integers(chain: Chain) -> Vec<ParameterSet> {
    let large = primes::below(1 << 30, 32).next();
    let one = Toy { first: 42, others: (42, 7), special: (46, 1) };
    let two = Toy { first: 55, others: (55, 8), special: (56, 2) };
    vec![
        ParameterSet { degree: 4096, plain_modulus: Some(40_961), toy: None, of_ten: 2, chain },
        ParameterSet { degree: 8192, plain_modulus: Some(65_537), toy: None, of_ten: 3, chain },
        ParameterSet { degree: 16384, plain_modulus: Some(65_537), toy: None, of_ten: 1, chain },
        ParameterSet { degree: 64, plain_modulus: Some(257), toy: Some(one), of_ten: 2, chain },
        ParameterSet { degree: 32, plain_modulus: large, toy: Some(two), of_ten: 2, chain },
    ]
}

/// For CKKS: the same kinds.
pub(crate) fn reals() -> Vec<ParameterSet> {
    let (chain, plain_modulus) = (Chain::Same, None);
    let one = Toy { first: 50, others: (40, 7), special: (50, 1) };
    let two = Toy { first: 55, others: (45, 8), special: (55, 2) };
    vec![
        ParameterSet { degree: 4096, plain_modulus, toy: None, of_ten: 2, chain },
        ParameterSet { degree: 8192, plain_modulus, toy: None, of_ten: 3, chain },
        ParameterSet { degree: 16384, plain_modulus, toy: None, of_ten: 1, chain },
        ParameterSet { degree: 64, plain_modulus, toy: Some(one), of_ten: 2, chain },
        ParameterSet { degree: 32, plain_modulus, toy: Some(two), of_ten: 2, chain },
    ]
}
