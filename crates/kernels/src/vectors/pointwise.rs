//! Pointwise kernels: sums of few products, constants, signs. Ranges as in [`crate::Kernels`].

use super::arithmetic::LaneArithmetic;
use super::float::Float;
use super::lanes::Lanes;
use super::whole::Whole;
use crate::conversion::Lift;
use crate::modulus::{Factor, Modulus};
use crate::scalar;

/// Runs a loop on the whole vectors of slices of one length, and the scalar kernel on the rest.
macro_rules! lines {
    ($L:ty, $l:ident; $a:ident; $x:ident => $value:expr; $rest:expr) => {{
        let (lines, $a) = <$L>::lines_mut($a);
        for line in lines {
            let $x = $l.load(line);
            $l.store(line, $value);
        }
        $rest
    }};
    ($L:ty, $l:ident; $a:ident, $($b:ident),*; $x:ident, $($y:ident),* => $value:expr; $rest:expr) => {{
        let (lines, $a) = <$L>::lines_mut($a);
        // Cut to one length, so that the loop needs no bounds checks.
        $(let ($y, $b) = <$L>::lines($b);
        let $y = &$y[..lines.len()];)*
        for (at, line) in lines.iter_mut().enumerate() {
            let $x = $l.load(line);
            $(let $y = $l.load(&$y[at]);)*
            $l.store(line, $value);
        }
        $rest
    }};
}

#[inline(always)]
pub(super) fn add<L: Lanes>(l: L, m: &Modulus, a: &mut [u64], b: &[u64]) {
    let q = l.all(m.value());
    lines!(L, l; a, b; x, y => l.below(l.add(x, y), q); scalar::add(m, a, b));
}

#[inline(always)]
pub(super) fn sum<L: Lanes>(l: L, m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) {
    let q = l.all(m.value());
    lines!(L, l; out, a, b; _x, y, z => l.below(l.add(y, z), q); scalar::sum(m, out, a, b));
}

#[inline(always)]
pub(super) fn subtract<L: Lanes>(l: L, m: &Modulus, a: &mut [u64], b: &[u64]) {
    let q = l.all(m.value());
    lines!(L, l; a, b; x, y => l.wrapped(l.subtract(x, y), q); scalar::subtract(m, a, b));
}

#[inline(always)]
pub(super) fn negate<L: Lanes>(l: L, m: &Modulus, a: &mut [u64]) {
    let (q, zero) = (l.all(m.value()), l.all(0));
    lines!(L, l; a; x => l.wrapped(l.subtract(zero, x), q); scalar::negate(m, a));
}

#[inline(always)]
pub(super) fn centre<L: Lanes>(l: L, m: &Modulus, out: &mut [i64], values: &[u64]) {
    let (q, limit) = (l.all(m.value()), l.all(m.value().div_ceil(2)));
    let ((lines, rest), (sources, tail)) = (L::signed_lines_mut(out), L::lines(values));
    for (line, source) in lines.iter_mut().zip(sources) {
        let x = l.load(source);
        l.store(line, l.where_negative(l.subtract(x, limit), x, l.subtract(x, q)));
    }
    scalar::centre(m, rest, tail);
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "scalar on NEON"))]
#[inline(always)]
pub(super) fn horner<L: Lanes>(l: L, out: &mut [i64], radix: i64, digits: &[i64]) {
    let by = l.all(radix as u64);
    let ((lines, rest), (sources, tail)) = (L::signed_lines_mut(out), L::signed_lines(digits));
    for (line, source) in lines.iter_mut().zip(sources) {
        l.store(line, l.add(l.multiply_low(l.load(line), by), l.load(source)));
    }
    scalar::horner(rest, radix, tail);
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "scalar on NEON"))]
#[inline(always)]
pub(super) fn permute<L: Lanes>(l: L, out: &mut [u64], values: &[u64], map: &[u32]) {
    let (lines, rest) = L::lines_mut(out);
    let (places, tail) = map.split_at(lines.len() * L::COUNT);
    for (line, places) in lines.iter_mut().zip(places.chunks_exact(L::COUNT)) {
        l.store(line, l.moved(values, l.places(places)));
    }
    scalar::permute(rest, values, tail);
}

#[inline(always)]
pub(super) fn multiply<A: LaneArithmetic>(a: A, m: &Modulus, x: &mut [u64], y: &[u64]) {
    let l = a.lanes();
    lines!(A::Lanes, l; x, y; v, w => a.give_product(a.product(a.take(v), a.take(w))); scalar::multiply(m, x, y));
}

#[inline(always)]
pub(super) fn product<A: LaneArithmetic>(a: A, m: &Modulus, out: &mut [u64], x: &[u64], y: &[u64]) {
    let l = a.lanes();
    lines!(A::Lanes, l; out, x, y; _o, v, w => a.give_product(a.product(a.take(v), a.take(w))); {
        scalar::product(m, out, x, y);
    });
}

#[inline(always)]
pub(super) fn add_product<A: LaneArithmetic>(a: A, m: &Modulus, sum: &mut [u64], x: &[u64], y: &[u64]) {
    let l = a.lanes();
    lines!(A::Lanes, l; sum, x, y; s, v, w => a.give(a.add(a.take(s), a.product(a.take(v), a.take(w)))); {
        scalar::add_product(m, sum, x, y);
    });
}

#[inline(always)]
pub(super) fn product_sum<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    out: &mut [u64],
    x: &[u64],
    y: &[u64],
    addend: &[u64],
) {
    let l = a.lanes();
    lines!(A::Lanes, l; out, x, y, addend; _o, v, w, s => {
        a.give(a.add(a.take(s), a.product(a.take(v), a.take(w))))
    }; scalar::product_sum(m, out, x, y, addend));
}

#[inline(always)]
pub(super) fn subtract_product<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    body: &mut [u64],
    mask: &[u64],
    secret: &[u64],
) {
    let l = a.lanes();
    lines!(A::Lanes, l; body, mask, secret; b, v, w => {
        a.give(a.subtract(a.take(b), a.product(a.take(v), a.take(w))))
    }; (crate::Streams::SCALAR.subtract_product)(m, body, mask, secret));
}

#[inline(always)]
pub(super) fn scale<A: LaneArithmetic>(a: A, m: &Modulus, x: &mut [u64], factor: Factor) {
    let (l, by) = (a.lanes(), a.constant(&A::pair(m, factor.value)));
    lines!(A::Lanes, l; x; v => a.give_product(a.times(a.take(v), by)); scalar::scale(m, x, factor));
}

#[inline(always)]
pub(super) fn subtract_scale<A: LaneArithmetic>(a: A, m: &Modulus, x: &mut [u64], y: &[u64], factor: Factor) {
    let (l, by) = (a.lanes(), a.constant(&A::pair(m, factor.value)));
    lines!(A::Lanes, l; x, y; v, w => a.give_product(a.times(a.subtract(a.take(v), a.take(w)), by)); {
        scalar::subtract_scale(m, x, y, factor);
    });
}

/// Reduces any signed words: adds 2^63, reduces, and subtracts the residue of 2^63.
#[inline(always)]
pub(super) fn from_signed<L: Lanes>(a: Whole<L>, m: &Modulus, out: &mut [u64], values: &[i64]) {
    let (l, one) = (a.lanes(), a.constant(&Whole::<L>::pair(m, 1)));
    let (top, offset) = (l.all(1 << 63), a.take(l.all(m.negate(m.reduce(1 << 63)))));
    let ((lines, rest), (sources, tail)) = (L::lines_mut(out), L::signed_lines(values));
    for (line, source) in lines.iter_mut().zip(sources) {
        let raised = l.add(l.load(source), top);
        l.store(line, a.give(a.add(a.times(raised, one), offset)));
    }
    scalar::from_signed(m, rest, tail);
}

/// Lifts any words.
#[inline(always)]
pub(super) fn lift<L: Lanes>(a: Whole<L>, m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let (l, one) = (a.lanes(), a.constant(&Whole::<L>::pair(m, 1)));
    let (threshold, zero, q) = (l.all(lift.threshold), l.all(0), l.all(m.value()));
    let modulus = l.all(m.reduce(lift.modulus));
    lines!(L, l; out, values; _x, y => {
        let taken_off = l.where_negative(l.subtract(y, threshold), zero, modulus);
        l.wrapped(l.subtract(a.give_product(a.times(y, one)), taken_off), q)
    }; scalar::lift(m, out, values, lift));
}

/// Lifts where every result lies between −q and q.
#[inline(always)]
pub(super) fn lift_near<L: Lanes>(l: L, m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let (threshold, zero) = (l.all(lift.threshold), l.all(0));
    let (modulus, q) = (l.all(lift.modulus), l.all(m.value()));
    lines!(L, l; out, values; _x, y => {
        let taken_off = l.where_negative(l.subtract(y, threshold), zero, modulus);
        l.wrapped(l.subtract(y, taken_off), q)
    }; scalar::lift(m, out, values, lift));
}

/// Lifts residues of a modulus below 2^50.
#[inline(always)]
pub(super) fn lift_float<L: Lanes>(
    a: Float<L, true>,
    m: &Modulus,
    out: &mut [u64],
    values: &[u64],
    lift: &Lift,
) {
    let l = a.lanes();
    let (threshold, zero) = (l.all(lift.threshold), l.all(0));
    let modulus = l.words_of(l.all_floats(lift.modulus as f64));
    lines!(L, l; out, values; _x, y => {
        let taken_off = l.where_negative(l.subtract(y, threshold), zero, modulus);
        a.give(l.minus(a.take(y), l.floats_of(taken_off)))
    }; scalar::lift(m, out, values, lift));
}
