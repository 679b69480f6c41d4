//! The last step of a division: sum·first + rest·second + addend.

use crate::modulus::{Factor, Modulus};
use crate::vectors::{LaneArithmetic, Lanes, by_prime};

pub(crate) fn scalar(
    m: &Modulus,
    out: &mut [u64],
    sum: &[u64],
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
) {
    scalar_of(m, out, sum, rest, by, addend, u64::MAX);
}

/// Like [`scalar`], but reads only the bits of `low` of the rest.
fn scalar_of(
    m: &Modulus,
    out: &mut [u64],
    sum: &[u64],
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
    low: u64,
) {
    for (i, x) in out.iter_mut().enumerate() {
        let quotient = m.add(m.multiply_factor(sum[i], by[0]), m.multiply_factor(rest[i] & low, by[1]));
        *x = m.add(quotient, addend.map_or(0, |z| z[i]));
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(
    l: L,
    m: &Modulus,
    out: &mut [u64],
    sum: &[u64],
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
) {
    by_prime!(l: L, m; of => vector(of, m, out, sum, rest, by, addend); scalar(m, out, sum, rest, by, addend));
}

/// Computes out = sum·first + rest·second + addend (if given). Range: rest below 2^52 or a residue.
#[inline(always)]
fn vector<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    out: &mut [u64],
    sum: &[u64],
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
) {
    let l = a.lanes();
    let (first, second) = (a.constant(&A::pair(m, by[0].value)), a.constant(&A::pair(m, by[1].value)));
    let (lines, tail) = A::Lanes::lines_mut(out);
    let ((sums, sum), (rests, rest)) = (A::Lanes::lines(sum), A::Lanes::lines(rest));
    let (addends, addend) = match addend.map(A::Lanes::lines) {
        Some((lines, tail)) => (Some(lines), Some(tail)),
        None => (None, None),
    };
    for (i, line) in lines.iter_mut().enumerate() {
        let [x, y] = [a.take(l.load(&sums[i])), a.take(l.load(&rests[i]))];
        let mut value = a.add(a.times(x, first), a.times(y, second));
        if !A::SETTLES_SUMS {
            value = a.settle(value);
        }
        if let Some(addends) = addends {
            value = a.add(value, a.take(l.load(&addends[i])));
        }
        l.store(line, a.give(value));
    }
    scalar(m, tail, sum, rest, by, addend);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Constant, LOW, Line, Prime, load, store};

    /// Computes out = sum·first + rest·second + addend (if given). `rest` may be unreduced.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(
        m: &Modulus,
        out: &mut [u64],
        sum: &[u64],
        rest: &[u64],
        by: [Factor; 2],
        addend: Option<&[u64]>,
    ) {
        let p = Prime::new(m);
        let [first, second] = [Constant::all(by[0].into()), Constant::all(by[1].into())];
        let whole = out.len() / 8 * 8;
        let (lines, tail) = out.as_chunks_mut::<8>();
        let (sums, _) = sum.as_chunks::<8>();
        let (rests, _) = rest.as_chunks::<8>();
        let product = |x: &Line, y: &Line| p.correct(p.multiply_constants(load(x), first, load(y), second));
        match addend {
            Some(addend) => {
                let (addends, _) = addend.as_chunks::<8>();
                for (((line, x), y), z) in lines.iter_mut().zip(sums).zip(rests).zip(addends) {
                    store(line, p.correct(_mm512_add_epi64(product(x, y), load(z))));
                }
            }
            None => {
                for ((line, x), y) in lines.iter_mut().zip(sums).zip(rests) {
                    store(line, product(x, y));
                }
            }
        }
        let addend = addend.map(|z| &z[whole..]);
        scalar_of(m, tail, &sum[whole..], &rest[whole..], by, addend, LOW);
    }
}

/// Compares every target with the scalar one.
#[cfg(test)]
pub(crate) fn twin() {
    use super::twins::{compare, constants, each_case, words};
    each_case(|m, [a, b, c]| {
        let open = words(1 << 52, a.len(), 6);
        let minus_one = m.factor(m.value() - 1);
        for factor in constants(m) {
            for addend in [None, Some(c)] {
                compare(m, a, |k, x| {
                    (k.subtract_rest)(m, x, b, &open, [factor, m.factor(m.negate(factor.value))], addend);
                });
                compare(m, a, |k, x| (k.subtract_rest)(m, x, a, &open, [minus_one, factor], addend));
            }
        }
    });
}
