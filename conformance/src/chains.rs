//! Parameter sets whose digits differ from those of the default chains.

use sotto_ring::primes;
use sotto_rlwe::{DefaultChain, ParameterSpec, Params, SchemeId};

use crate::fixture::Testable;

/// Rearranges the default chain of a degree: the same bits, `special` special primes and `digit_primes` data primes a
/// digit. Drops primes that fit neither.
pub fn with_digits<S: Testable>(degree: usize, special: usize, digit_primes: usize) -> Params<S> {
    let default = DefaultChain::spec(S::ID, degree, S::plain_modulus(degree)).expect("a default chain");
    let spec = match S::ID {
        SchemeId::Ckks => real(&default, special, digit_primes),
        _ => integer(&default, special, digit_primes),
    };
    Params::new(spec).expect("parameters")
}

/// Takes the same primes; the largest ones become special.
fn integer(default: &ParameterSpec, special: usize, digit_primes: usize) -> ParameterSpec {
    let all: Vec<u64> = default.special.iter().chain(&default.data).copied().collect();
    let (special, data) = all.split_at(special);
    ParameterSpec { special: special.to_vec(), data: data.to_vec(), digit_primes, ..default.clone() }
}

/// Takes `special` special primes, and drops the uppermost scale primes that no longer fit.
fn real(default: &ParameterSpec, special: usize, digit_primes: usize) -> ParameterSpec {
    let bits = 64 - default.special[0].leading_zeros();
    let used: Vec<u64> = default.special.iter().chain(&default.data).copied().collect();
    let more = primes::below((1 << bits) - (1 << (bits - 10)), default.degree).filter(|p| !used.contains(p));
    let special: Vec<u64> = default.special.iter().copied().chain(more).take(special).collect();
    let mut spec = ParameterSpec { special, digit_primes, ..default.clone() };
    while spec.modulus_bits() > default.modulus_bits() + 0.5 {
        spec.data.pop();
    }
    spec
}
