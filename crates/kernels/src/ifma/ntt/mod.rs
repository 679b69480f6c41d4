//! The number-theoretic transform, eight lanes at a time. Ranges: docs/math/kernels.md#transform.

mod forward;
mod inverse;
mod registers;
mod twiddles;

pub(crate) use twiddles::LaneTwiddles;

use super::lanes::{Line, Prime};
use crate::modulus::Factor;
use crate::ntt::NttTable;
use forward::Forward;
use inverse::Inverse;

/// Largest bit length of primes whose inverse transform is corrected once in three layers only: 64·q < 2^52.
const LAZY_INVERSE_BITS: u32 = 46;

/// Runs the forward transform. Range: q < 2^50; in < 2q; out < q, or if OPEN any words whose low 52 bits are congruent
/// to the value.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn forward<const OPEN: bool>(table: &NttTable, lanes: &LaneTwiddles, values: &mut [u64]) {
    let (lines, _) = values.as_chunks_mut::<8>();
    let (layers, q) = (u64::from(table.degree().trailing_zeros()), table.modulus().value());
    let prime = Prime::new(table.modulus());
    let transform = Forward { prime, twiddles: &lanes.forward, offset: 2 * layers * q };
    // True if everything stays below 2^52 without corrections.
    if (4 * layers + 2) * q < 1 << 52 {
        transform.run::<true, true, OPEN>(lines, 1, 0);
    } else {
        transform.run::<false, true, OPEN>(lines, 1, 0);
    }
}

/// Runs the inverse transform times `scale`·n, from `source` if given, else in place. Range: q < 2^50; in < 2q, out <
/// q.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn inverse(
    table: &NttTable,
    lanes: &LaneTwiddles,
    values: &mut [u64],
    source: Option<&[u64]>,
    scale: Factor,
) {
    let (lines, _) = values.as_chunks_mut::<8>();
    let source = source.map(|s| s.as_chunks::<8>().0);
    let m = table.modulus();
    let last = m.factor(m.multiply(scale.value, table.inverse[1].value));
    let transform = Inverse {
        prime: Prime::new(m),
        q: m.value(),
        twiddles: &lanes.inverse,
        scale: scale.into(),
        last: last.into(),
    };
    if m.bits() <= LAZY_INVERSE_BITS {
        transform.run::<true, true>(lines, source, 1, 0);
    } else {
        transform.run::<false, true>(lines, source, 1, 0);
    }
}

/// Returns the number of layers of the next pass, given the vectors left; passes stop above the blocks of 64.
fn layers_of_pass(lines: usize) -> usize {
    match (lines / 8).trailing_zeros() {
        1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// Splits a part of the values into WAYS parts of equal length.
#[inline(always)]
fn parts<const WAYS: usize>(lines: &mut [Line]) -> [&mut [Line]; WAYS] {
    let step = lines.len() / WAYS;
    let mut parts: [&mut [Line]; WAYS] = [(); WAYS].map(|()| Default::default());
    let mut rest = lines;
    for part in &mut parts {
        (*part, rest) = rest.split_at_mut(step);
    }
    parts
}
