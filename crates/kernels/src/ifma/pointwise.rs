//! Pointwise kernels: sums, products, constants, permutations. Ranges as in [`crate::Kernels`], with q < 2^50.

use core::arch::x86_64::*;

use super::lanes::{Barrett, Constant, Prime, all, load, load_indices, load_signed, store, store_signed};
use crate::modulus::{Factor, Modulus};
use crate::scalar;

/// Runs a loop on the whole vectors of slices of one length, and the scalar kernel on the rest.
macro_rules! lines {
    ($a:ident, $($b:ident),*; $x:ident, $($y:ident),* => $value:expr; $rest:expr) => {{
        let (lines, $a) = $a.as_chunks_mut::<8>();
        $(let ($y, $b) = $b.as_chunks::<8>();)*
        let mut at = 0;
        for line in lines {
            let $x = load(line);
            $(let $y = load(&$y[at]);)*
            store(line, $value);
            at += 1;
        }
        $rest
    }};
}

#[target_feature(enable = "avx512f")]
pub(super) fn add(m: &Modulus, a: &mut [u64], b: &[u64]) {
    let p = Prime::new(m);
    lines!(a, b; x, y => p.correct(_mm512_add_epi64(x, y)); scalar::add(m, a, b));
}

#[target_feature(enable = "avx512f")]
pub(super) fn sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    let p = Prime::new(m);
    lines!(out, a, b; _x, y, z => p.correct(_mm512_add_epi64(y, z)); scalar::sum(m, out, a, b));
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn product(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    let barrett = Barrett::new(m);
    lines!(out, a, b; _x, y, z => barrett.multiply(y, z); scalar::product(m, out, a, b));
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn product_sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64], addend: &[u64]) {
    let barrett = Barrett::new(m);
    lines!(out, a, b, addend; _x, y, z, w => {
        barrett.prime().correct(_mm512_add_epi64(w, barrett.multiply(y, z)))
    }; scalar::product_sum(m, out, a, b, addend));
}

#[target_feature(enable = "avx512f")]
pub(super) fn centre(m: &Modulus, out: &mut [i64], values: &[u64]) {
    let (q, limit) = (all(m.value()), all(m.value().div_ceil(2)));
    let (lines, rest) = out.as_chunks_mut::<8>();
    let (sources, tail) = values.as_chunks::<8>();
    for (line, source) in lines.iter_mut().zip(sources) {
        let x = load(source);
        store_signed(line, _mm512_mask_sub_epi64(x, _mm512_cmpge_epu64_mask(x, limit), x, q));
    }
    scalar::centre(m, rest, tail);
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn horner(out: &mut [i64], radix: i64, digits: &[i64]) {
    let by = _mm512_set1_epi64(radix);
    let (lines, rest) = out.as_chunks_mut::<8>();
    let (sources, tail) = digits.as_chunks::<8>();
    for (line, digit) in lines.iter_mut().zip(sources) {
        let product = _mm512_mullo_epi64(load_signed(line), by);
        store_signed(line, _mm512_add_epi64(product, load_signed(digit)));
    }
    scalar::horner(rest, radix, tail);
}

#[target_feature(enable = "avx512f")]
pub(super) fn subtract(m: &Modulus, a: &mut [u64], b: &[u64]) {
    let p = Prime::new(m);
    // A negative difference is a large word, and adding q makes it smaller.
    lines!(a, b; x, y => {
        let difference = _mm512_sub_epi64(x, y);
        _mm512_min_epu64(difference, _mm512_add_epi64(difference, p.q))
    }; scalar::subtract(m, a, b));
}

#[target_feature(enable = "avx512f")]
pub(super) fn negate(m: &Modulus, a: &mut [u64]) {
    let p = Prime::new(m);
    let (lines, rest) = a.as_chunks_mut::<8>();
    for line in lines {
        let difference = _mm512_sub_epi64(_mm512_setzero_si512(), load(line));
        store(line, _mm512_min_epu64(difference, _mm512_add_epi64(difference, p.q)));
    }
    scalar::negate(m, rest);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply(m: &Modulus, a: &mut [u64], b: &[u64]) {
    let barrett = Barrett::new(m);
    lines!(a, b; x, y => barrett.multiply(x, y); scalar::multiply(m, a, b));
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add_product(m: &Modulus, sum: &mut [u64], a: &[u64], b: &[u64]) {
    let barrett = Barrett::new(m);
    lines!(sum, a, b; s, x, y => {
        barrett.prime().correct(_mm512_add_epi64(s, barrett.multiply(x, y)))
    }; scalar::add_product(m, sum, a, b));
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn subtract_product(m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
    let barrett = Barrett::new(m);
    let p = barrett.prime();
    lines!(body, mask, secret; b, a, s => {
        let difference = _mm512_sub_epi64(b, barrett.multiply(a, s));
        _mm512_min_epu64(difference, _mm512_add_epi64(difference, p.q))
    }; (crate::Streams::SCALAR.subtract_product)(m, body, mask, secret));
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn scale(m: &Modulus, a: &mut [u64], factor: Factor) {
    let p = Prime::new(m);
    let by = Constant::all(factor.into());
    let (lines, rest) = a.as_chunks_mut::<8>();
    for line in lines {
        store(line, p.correct(p.multiply_constant(load(line), by)));
    }
    scalar::scale(m, rest, factor);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn subtract_scale(m: &Modulus, a: &mut [u64], b: &[u64], factor: Factor) {
    let p = Prime::new(m);
    let by = Constant::all(factor.into());
    lines!(a, b; x, y => {
        let difference = _mm512_sub_epi64(_mm512_add_epi64(x, p.q), y);
        p.correct(p.multiply_constant(difference, by))
    }; scalar::subtract_scale(m, a, b, factor));
}

/// Reduces any signed words: the magnitude in two parts, then negated under a mask.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn from_signed(m: &Modulus, out: &mut [u64], values: &[i64]) {
    let p = Prime::new(m);
    let (one, shifted) =
        (Constant::all(m.factor(1).into()), Constant::all(m.factor(m.reduce(1 << 52)).into()));
    let (lines, rest) = out.as_chunks_mut::<8>();
    let (sources, tail) = values.as_chunks::<8>();
    for (line, source) in lines.iter_mut().zip(sources) {
        let x = load_signed(source);
        let magnitude = _mm512_abs_epi64(x);
        let low = p.multiply_constant(p.mask(magnitude), one);
        let high = p.multiply_constant(_mm512_srli_epi64::<52>(magnitude), shifted);
        let reduced = p.correct(p.below(_mm512_add_epi64(low, high), p.two_q));
        let negated = _mm512_sub_epi64(_mm512_setzero_si512(), reduced);
        let negated = _mm512_min_epu64(negated, _mm512_add_epi64(negated, p.q));
        let sign = _mm512_movepi64_mask(x);
        store(line, _mm512_mask_mov_epi64(reduced, sign, negated));
    }
    scalar::from_signed(m, rest, tail);
}

/// Permutes. An automorphism moves aligned groups of eight entries of Eval form as a whole and permutes inside; the
/// scalar kernel handles lines of any other map.
#[target_feature(enable = "avx512f,avx512dq")]
pub(crate) fn permute(out: &mut [u64], values: &[u64], map: &[u32]) {
    let (lines, rest) = out.as_chunks_mut::<8>();
    let (indices, tail) = map.as_chunks::<8>();
    let (sources, _) = values.as_chunks::<8>();
    for (line, index) in lines.iter_mut().zip(indices) {
        let group = index[0] / 8;
        let places = load_indices(index);
        let groups = _mm512_srli_epi64::<3>(places);
        let moved = _mm512_cmpneq_epi64_mask(groups, all(u64::from(group)));
        match sources.get(group as usize) {
            // The instruction reads only the low three bits of an index.
            Some(source) if moved == 0 => store(line, _mm512_permutexvar_epi64(places, load(source))),
            _ => scalar::permute(line, values, index),
        }
    }
    scalar::permute(rest, values, tail);
}
