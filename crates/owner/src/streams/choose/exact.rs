//! The choice of parameters for the exact schemes.

use sotto_pack::Channel;
use sotto_ring::primes;
use sotto_rlwe::{ChainRequest, Digits};
use sotto_runtime::Managed;

use super::chosen::{Alternative, Chosen, DEGREES};
use super::judge::attempt;
use super::worst::{largest_result, layout};
use crate::streams::{StreamNeeds, Wishes};

/// Sizes of a candidate's data primes, in bits.
const PRIME_BITS: [u32; 6] = [30, 34, 38, 42, 46, 50];

/// Largest number of data primes.
const MOST_PRIMES: usize = 8;

/// Returns the smallest suitable parameters of an exact scheme, and the lower degrees that are not suitable.
pub(super) fn best<S: Managed>(
    stream: &StreamNeeds,
    channels: &[Channel],
    wishes: Wishes,
) -> (Option<Chosen>, Vec<Alternative>) {
    let mut tried = Vec::new();
    for degree in DEGREES {
        match at_degree::<S>(stream, channels, degree, wishes) {
            Ok(chosen) => return (Some(chosen), tried),
            Err(why) => {
                tried.push(Alternative::refused(&S::ID.to_string(), degree, why));
            }
        }
    }
    (None, tried)
}

/// Returns the parameters with the smallest suitable modulus at a degree.
fn at_degree<S: Managed>(
    stream: &StreamNeeds,
    channels: &[Channel],
    degree: usize,
    wishes: Wishes,
) -> Result<Chosen, String> {
    let (layout, cut) =
        layout(stream, channels, degree as u32 / 2, 2, wishes).map_err(|error| error.to_string())?;
    let floor = 2.0 * largest_result(&layout, &stream.needs) + 1.0;
    if floor >= 2f64.powi(58) {
        return Err(format!("sums need a plain modulus of {:.0} bits", floor.log2().ceil()));
    }
    let t = primes::above((floor as u64).max(2 * degree as u64), degree).next().ok_or("no plain modulus")?;
    let mut candidates: Vec<(usize, u32)> =
        (1..=MOST_PRIMES).flat_map(|count| PRIME_BITS.map(|bits| (count, bits))).collect();
    // The fewest bits first; at equal bits the fewest primes.
    candidates.sort_by_key(|(count, bits)| (*count as u32 * bits, *count));
    let least = t.ilog2() + 12;
    let mut why = wishes.no_room();
    for (count, bits) in candidates.into_iter().filter(|(count, bits)| *count as u32 * bits > least) {
        let request = ChainRequest {
            special_primes: Some(1),
            digits: Some(Digits::Primes(1)),
            levels: Some(count - 1),
            first_bits: Some(bits),
            other_bits: Some(bits),
            security: wishes.target(),
            ..ChainRequest::new(S::ID, degree, t)
        };
        let Ok(spec) = request.build() else { continue };
        match attempt::<S>(stream, &layout, cut, spec, wishes) {
            Ok(chosen) => return Ok(chosen),
            Err(error) => why = error,
        }
    }
    Err(why)
}
