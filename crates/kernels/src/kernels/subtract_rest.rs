//! The last step of a division: sum·first + rest·second + addend.

use crate::modulus::{Factor, Modulus};
use crate::vectors::{LaneArithmetic, Lanes, by_prime};

pub(crate) fn scalar(
    m: &Modulus,
    out: &mut [u64],
    sum: Option<&[u64]>,
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
    sum: Option<&[u64]>,
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
    low: u64,
) {
    for (i, x) in out.iter_mut().enumerate() {
        let dividend = sum.map_or(*x, |sum| sum[i]);
        let quotient = m.add(m.multiply_factor(dividend, by[0]), m.multiply_factor(rest[i] & low, by[1]));
        *x = m.add(quotient, addend.map_or(0, |z| z[i]));
    }
}

#[inline(always)]
pub(crate) fn lanes<L: Lanes>(
    l: L,
    m: &Modulus,
    out: &mut [u64],
    sum: Option<&[u64]>,
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
) {
    by_prime!(l: L, m; of => vector(of, m, out, sum, rest, by, addend); scalar(m, out, sum, rest, by, addend));
}

/// Computes out = sum·first + rest·second + addend (if given; without a sum, out is the sum). Range: rest below 2^52 or a residue.
#[inline(always)]
fn vector<A: LaneArithmetic>(
    a: A,
    m: &Modulus,
    out: &mut [u64],
    sum: Option<&[u64]>,
    rest: &[u64],
    by: [Factor; 2],
    addend: Option<&[u64]>,
) {
    let l = a.lanes();
    let (first, second) = (a.constant(&A::pair(m, by[0].value)), a.constant(&A::pair(m, by[1].value)));
    // (sum − rest)·first takes one product in place of two.
    let opposite = A::SIGNED && by[1].value == m.negate(by[0].value);
    let (lines, tail) = A::Lanes::lines_mut(out);
    let (rests, rest) = A::Lanes::lines(rest);
    let [(sums, sum), (addends, addend)] = [sum, addend].map(|slice| slice.map(A::Lanes::lines).unzip());
    for (i, line) in lines.iter_mut().enumerate() {
        let x = a.take(l.load(sums.map_or(&*line, |sums| &sums[i])));
        let y = a.take(l.load(&rests[i]));
        let mut value = if opposite {
            a.times(a.subtract(x, y), first)
        } else {
            a.add(a.times(x, first), a.times(y, second))
        };
        if !A::SETTLES_SUMS {
            value = a.settle(value);
        }
        let reduced = match addends {
            None if opposite => a.give_product(value),
            None => a.give(value),
            Some(addends) => a.give(a.add(value, a.take(l.load(&addends[i])))),
        };
        l.store(line, reduced);
    }
    scalar(m, tail, sum, rest, by, addend);
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod ifma {
    use core::arch::x86_64::*;

    use super::*;
    use crate::ifma::lanes::{Constant, LOW, Prime, load, store};

    /// Computes out = sum·first + rest·second + addend (if given; without a sum, out is the sum). `rest` may be unreduced.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn run(
        m: &Modulus,
        out: &mut [u64],
        sum: Option<&[u64]>,
        rest: &[u64],
        by: [Factor; 2],
        addend: Option<&[u64]>,
    ) {
        let p = Prime::new(m);
        let [first, second] = [Constant::all(by[0].into()), Constant::all(by[1].into())];
        let whole = out.len() / 8 * 8;
        let (lines, tail) = out.as_chunks_mut::<8>();
        let (rests, _) = rest.as_chunks::<8>();
        let [sums, addends] = [sum, addend].map(|slice| slice.map(|slice| slice.as_chunks::<8>().0));
        for (i, (line, y)) in lines.iter_mut().zip(rests).enumerate() {
            let x = load(sums.map_or(&*line, |sums| &sums[i]));
            let product = p.correct(p.multiply_constants(x, first, load(y), second));
            store(
                line,
                match addends {
                    Some(addends) => p.correct(_mm512_add_epi64(product, load(&addends[i]))),
                    None => product,
                },
            );
        }
        let [sum, addend] = [sum, addend].map(|slice| slice.map(|slice| &slice[whole..]));
        scalar_of(m, tail, sum, &rest[whole..], by, addend, LOW);
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
                for sum in [None, Some(b)] {
                    let by = [factor, m.factor(m.negate(factor.value))];
                    compare(m, a, |k, x| (k.subtract_rest)(m, x, sum, &open, by, addend));
                }
                compare(m, a, |k, x| (k.subtract_rest)(m, x, Some(a), &open, [minus_one, factor], addend));
            }
        }
    });
}
