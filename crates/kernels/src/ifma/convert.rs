//! The second half of a base conversion. Ranges: docs/math/kernels.md#conversion.

use core::arch::x86_64::*;

use super::lanes::{Barrett, Constant, all, load, store};
use crate::modulus::Modulus;
use crate::scalar;

/// How much there is to reduce.
const NARROW: u8 = 0;
const MEDIUM: u8 = 1;
const WIDE: u8 = 2;

/// out = Σ source·weight − quotient·product. Range: q < 2^50, at most 32 sources below 2^`source_bits` ≤ 2^50, weights < q,
/// quotients < 2^6.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn convert(
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    source_bits: u32,
    weights: &[u64],
    quotients: &[u64],
    product: u64,
) {
    let minus = m.negate(product);
    match (source_bits, m.bits()) {
        // The sum is below 2^(50 + b): one reduction.
        (..=44, _) => run::<NARROW>(m, out, sources, weights, quotients, minus),
        // Its upper part is below 2^52.
        (s, t) if s + t <= 97 => run::<MEDIUM>(m, out, sources, weights, quotients, minus),
        _ => run::<WIDE>(m, out, sources, weights, quotients, minus),
    }
    let whole = out.len() / 8 * 8;
    if whole < out.len() {
        let rest: Vec<&[u64]> = sources.iter().map(|s| &s[whole..]).collect();
        scalar::convert(m, &mut out[whole..], &rest, source_bits, weights, &quotients[whole..], product);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn run<const SIZE: u8>(
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    weights: &[u64],
    quotients: &[u64],
    minus: u64,
) {
    let barrett = Barrett::new(m);
    let p = barrett.prime();
    let zero = _mm512_setzero_si512();
    let word = m.reduce(1 << 52);
    let one = Constant::all(m.factor(1).into());
    let shifted = Constant::all(m.factor(word).into());
    let top = Constant::all(m.factor(m.multiply(word, word)).into());
    let minus = all(minus);
    let (lines, _) = out.as_chunks_mut::<8>();
    for (i, line) in lines.iter_mut().enumerate() {
        let at = 8 * i;
        let (mut low, mut high) = (zero, zero);
        for (source, weight) in sources.iter().zip(weights) {
            let (y, weight) = (load(chunk(source, at)), all(*weight));
            low = _mm512_madd52lo_epu64(low, y, weight);
            high = _mm512_madd52hi_epu64(high, y, weight);
        }
        let v = load(chunk(quotients, at));
        low = _mm512_madd52lo_epu64(low, v, minus);
        high = _mm512_madd52hi_epu64(high, v, minus);
        high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
        low = p.mask(low);
        let reduced = if SIZE == NARROW {
            barrett.reduce(high, low)
        } else {
            let mut sum = p.multiply_constant(low, one);
            if SIZE == WIDE {
                let part = p.multiply_constant(_mm512_srli_epi64::<52>(high), top);
                sum = p.below(_mm512_add_epi64(sum, part), p.two_q);
                high = p.mask(high);
            }
            let part = p.multiply_constant(high, shifted);
            p.correct(p.below(_mm512_add_epi64(sum, part), p.two_q))
        };
        store(line, reduced);
    }
}

fn chunk(slice: &[u64], at: usize) -> &[u64; 8] {
    slice[at..at + 8].first_chunk().expect("eight words")
}
