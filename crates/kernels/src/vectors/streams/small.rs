//! Small integers: draws, scales, conversion to residues and back. Distributions and ranges: docs/math/sampling.md.

use super::lanes::StreamLanes;
use crate::modulus::Modulus;
use crate::streams::Streams;

/// Draws floor(3·w/2^64) − 1: the floor is the number of thresholds among 2^64/3 and 2^65/3 that the word w reaches.
#[inline(always)]
pub(in crate::vectors) fn ternary<L: StreamLanes>(l: L, bytes: &[u8], out: &mut [i64]) {
    let (third, two_thirds) = (l.all(0x5555_5555_5555_5556), l.all(0xaaaa_aaaa_aaaa_aaab));
    let minus_one = l.all(u64::MAX);
    let (lines, rest, tail) = drawn::<L>(bytes, out);
    for (line, words) in lines {
        let word = l.load_bytes(words);
        // A mask is −1.
        let reached = l.add(l.reached(word, third), l.reached(word, two_thirds));
        l.store(line, l.subtract(minus_one, reached));
    }
    (Streams::SCALAR.ternary)(tail, rest);
}

#[inline(always)]
pub(in crate::vectors) fn centred_binomial<L: StreamLanes>(l: L, bytes: &[u8], out: &mut [i64]) {
    let (low, high) = (l.all((1 << 21) - 1), l.all(((1 << 21) - 1) << 21));
    let (lines, rest, tail) = drawn::<L>(bytes, out);
    for (line, words) in lines {
        let word = l.load_bytes(words);
        l.store(line, l.subtract(l.ones(l.and(word, low)), l.ones(l.and(word, high))));
    }
    (Streams::SCALAR.centred_binomial)(tail, rest);
}

#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "scalar on NEON"))]
pub(in crate::vectors) fn add_scaled<L: StreamLanes>(l: L, sum: &mut [i64], values: &[i64], factor: i64) {
    let by = l.all(factor as u64);
    let ((lines, rest), (sources, tail)) = (L::signed_lines_mut(sum), L::signed_lines(values));
    for (line, source) in lines.iter_mut().zip(sources) {
        l.store(line, l.add(l.load(line), l.multiply_low(l.load(source), by)));
    }
    (Streams::SCALAR.add_scaled)(rest, tail, factor);
}

#[inline(always)]
pub(in crate::vectors) fn lift<L: StreamLanes>(l: L, m: &Modulus, out: &mut [u64], values: &[i64]) {
    let q = l.all(m.value());
    let ((lines, rest), (sources, tail)) = (L::lines_mut(out), L::signed_lines(values));
    for (line, source) in lines.iter_mut().zip(sources) {
        l.store(line, l.wrapped(l.load(source), q));
    }
    (Streams::SCALAR.lift)(m, rest, tail);
}

/// Returns true if any magnitude is at least the limit. The magnitude of the smallest integer is the word 2^63.
#[inline(always)]
pub(in crate::vectors) fn any_beyond<L: StreamLanes>(l: L, values: &[i64], limit: u64) -> bool {
    let (limits, zero) = (l.all(limit), l.all(0));
    let (lines, rest) = L::signed_lines(values);
    let mut beyond = zero;
    for line in lines {
        let x = l.load(line);
        let magnitude = l.where_negative(x, l.subtract(zero, x), x);
        beyond = l.or(beyond, l.reached(magnitude, limits));
    }
    l.any(beyond) | (Streams::SCALAR.any_beyond)(rest, limit)
}

type Drawn<'a, L> = (
    core::iter::Zip<core::slice::IterMut<'a, Line<L>>, core::slice::Iter<'a, Bytes<L>>>,
    &'a mut [i64],
    &'a [u8],
);
type Line<L> = <L as crate::vectors::lanes::Lanes>::Line;
type Bytes<L> = <L as crate::vectors::lanes::Lanes>::Bytes;

/// Pairs lines of integers with the words that they are drawn from, and returns the rest of both.
#[inline(always)]
fn drawn<'a, L: StreamLanes>(bytes: &'a [u8], out: &'a mut [i64]) -> Drawn<'a, L> {
    let (lines, rest) = L::signed_lines_mut(out);
    let (words, tail) = L::byte_lines(bytes);
    (lines.iter_mut().zip(words), rest, tail)
}
