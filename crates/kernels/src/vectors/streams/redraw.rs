//! Redrawing of masks: moves values across lanes by tables of sixteen entries. Masks are public, so addresses may
//! depend on them.

use core::arch::x86_64::*;

use crate::modulus::Modulus;
use crate::streams::{Streams, accept_from};
use crate::vectors::avx2::Avx2;
use crate::vectors::lanes::Lanes;

/// An index for each of four words, as the instruction takes it: the indices of the word's two 32-bit halves.
type Order = [u64; 4];

/// For each set of lanes, the permutation that moves its lanes to the front, in order.
const COMPRESSED: [Order; 16] = orders(false);
/// For each set of lanes, the permutation that gives its lanes the next values, in order.
const EXPANDED: [Order; 16] = orders(true);

const fn orders(expanded: bool) -> [Order; 16] {
    let mut orders = [[0; 4]; 16];
    let mut set = 0;
    while set < 16 {
        let (mut lane, mut next) = (0, 0);
        while lane < 4 {
            if set >> lane & 1 == 1 {
                let (to, from) = if expanded { (lane, next) } else { (next, lane) };
                orders[set][to] = (2 * from as u64) | ((2 * from as u64 + 1) << 32);
                next += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    orders
}

/// The number of lanes in each set, as not every processor counts bits by an instruction.
const COUNTS: [usize; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

/// Returns where x < q as a mask and as a set of lanes. Range: words below 2^63.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn below(x: __m256i, q: __m256i) -> (__m256i, usize) {
    let below = _mm256_cmpgt_epi64(q, x);
    (below, _mm256_movemask_pd(_mm256_castsi256_pd(below)) as usize)
}

/// Moves the values below q to the front, in order, and returns their number.
#[target_feature(enable = "avx2,fma")]
pub(super) fn accept(l: Avx2, m: &Modulus, values: &mut [u64]) -> usize {
    let q = l.all(m.value());
    let (mut kept, mut at) = (0, 0);
    // The write index never passes the read index, so a whole line may be overwritten.
    while let Some(line) = values.get(at..).and_then(|values| values.first_chunk::<4>()) {
        let x = l.load(line);
        let (_, set) = below(x, q);
        let Some(target) = values.get_mut(kept..).and_then(|values| values.first_chunk_mut::<4>()) else {
            break;
        };
        l.store(target, _mm256_permutevar8x32_epi32(x, l.load(&COMPRESSED[set])));
        kept += COUNTS[set];
        at += 4;
    }
    accept_from(m, values, at, kept)
}

/// Replaces values that are not below q by `fresh`, in order. Stops when fewer than four fresh values are left.
#[target_feature(enable = "avx2,fma")]
pub(super) fn replace(l: Avx2, m: &Modulus, values: &mut [u64], fresh: &[u64]) -> (usize, usize) {
    let q = l.all(m.value());
    let (mut done, mut used) = (0, 0);
    for line in values.as_chunks_mut::<4>().0 {
        let Some(next) = fresh.get(used..).and_then(|fresh| fresh.first_chunk::<4>()) else { break };
        let x = l.load(line);
        let (inside, set) = below(x, q);
        let outside = set ^ 15;
        let next = _mm256_permutevar8x32_epi32(l.load(next), l.load(&EXPANDED[outside]));
        l.store(line, _mm256_blendv_epi8(next, x, inside));
        used += COUNTS[outside];
        done += 4;
    }
    let (rest_done, rest_used) = (Streams::SCALAR.replace)(m, &mut values[done..], &fresh[used..]);
    (done + rest_done, used + rest_used)
}
