//! Layers between registers, unrolled by hand: if the compiler leaves loops here, it spills the registers to memory.

use crate::vectors::arithmetic::{LaneArithmetic, LineOf, Pair};

/// The factors of some layers. Group g in the layer of 2^l groups has number 2^l − 1 + g.
#[derive(Clone, Copy)]
pub(crate) enum Factors<'a, A: LaneArithmetic> {
    /// The same factor in every lane.
    All(&'a [Pair]),
    /// One factor a lane: a line of values and one of quotients.
    Lanes(&'a [LineOf<A>]),
}

impl<A: LaneArithmetic> Factors<'_, A> {
    #[inline(always)]
    fn number(self, a: A, index: usize) -> A::Constant {
        match self {
            Self::All(pairs) => a.constant(&pairs[index]),
            Self::Lanes(lines) => a.constants([&lines[2 * index], &lines[2 * index + 1]]),
        }
    }
}

/// Runs log2(v.len()) layers on v, which has 2, 4 or 8 values.
#[inline(always)]
pub(crate) fn layers<A: LaneArithmetic, const FORWARD: bool>(a: A, v: &mut [A::Value], w: Factors<'_, A>) {
    match v.len() {
        2 => one::<A, FORWARD>(a, v, w),
        4 => two::<A, FORWARD>(a, v, w),
        _ => three::<A, FORWARD>(a, v, w),
    }
}

/// Runs two layers of two groups of four values, alternating the butterflies of both groups.
#[inline(always)]
pub(crate) fn two_groups<A: LaneArithmetic, const FORWARD: bool>(
    a: A,
    v: &mut [A::Value; 8],
    first: Factors<'_, A>,
    second: Factors<'_, A>,
) {
    if FORWARD {
        two_apart::<A, FORWARD>(a, v, 0, first.number(a, 0));
        two_apart::<A, FORWARD>(a, v, 4, second.number(a, 0));
    }
    butterfly::<A, FORWARD>(a, v, 0, 1, first.number(a, 1));
    butterfly::<A, FORWARD>(a, v, 4, 5, second.number(a, 1));
    butterfly::<A, FORWARD>(a, v, 2, 3, first.number(a, 2));
    butterfly::<A, FORWARD>(a, v, 6, 7, second.number(a, 2));
    if !FORWARD {
        two_apart::<A, FORWARD>(a, v, 0, first.number(a, 0));
        two_apart::<A, FORWARD>(a, v, 4, second.number(a, 0));
    }
}

#[inline(always)]
fn butterfly<A: LaneArithmetic, const FORWARD: bool>(
    a: A,
    v: &mut [A::Value],
    low: usize,
    high: usize,
    w: A::Constant,
) {
    let (mut x, mut y) = (v[low], v[high]);
    if FORWARD {
        a.split(&mut x, &mut y, w);
    } else {
        a.join(&mut x, &mut y);
        y = a.times(y, w);
    }
    (v[low], v[high]) = (x, y);
}

#[inline(always)]
fn one<A: LaneArithmetic, const FORWARD: bool>(a: A, v: &mut [A::Value], w: Factors<'_, A>) {
    butterfly::<A, FORWARD>(a, v, 0, 1, w.number(a, 0));
}

#[inline(always)]
fn two<A: LaneArithmetic, const FORWARD: bool>(a: A, v: &mut [A::Value], w: Factors<'_, A>) {
    if FORWARD {
        two_apart::<A, FORWARD>(a, v, 0, w.number(a, 0));
        butterfly::<A, FORWARD>(a, v, 0, 1, w.number(a, 1));
        butterfly::<A, FORWARD>(a, v, 2, 3, w.number(a, 2));
    } else {
        butterfly::<A, FORWARD>(a, v, 0, 1, w.number(a, 1));
        butterfly::<A, FORWARD>(a, v, 2, 3, w.number(a, 2));
        two_apart::<A, FORWARD>(a, v, 0, w.number(a, 0));
    }
}

#[inline(always)]
fn three<A: LaneArithmetic, const FORWARD: bool>(a: A, v: &mut [A::Value], w: Factors<'_, A>) {
    if FORWARD {
        four_apart::<A, FORWARD>(a, v, w.number(a, 0));
        two_apart::<A, FORWARD>(a, v, 0, w.number(a, 1));
        two_apart::<A, FORWARD>(a, v, 4, w.number(a, 2));
        one_apart::<A, FORWARD>(a, v, w);
    } else {
        one_apart::<A, FORWARD>(a, v, w);
        two_apart::<A, FORWARD>(a, v, 0, w.number(a, 1));
        two_apart::<A, FORWARD>(a, v, 4, w.number(a, 2));
        four_apart::<A, FORWARD>(a, v, w.number(a, 0));
    }
}

#[inline(always)]
fn four_apart<A: LaneArithmetic, const FORWARD: bool>(a: A, v: &mut [A::Value], w: A::Constant) {
    butterfly::<A, FORWARD>(a, v, 0, 4, w);
    butterfly::<A, FORWARD>(a, v, 1, 5, w);
    butterfly::<A, FORWARD>(a, v, 2, 6, w);
    butterfly::<A, FORWARD>(a, v, 3, 7, w);
}

#[inline(always)]
fn two_apart<A: LaneArithmetic, const FORWARD: bool>(a: A, v: &mut [A::Value], at: usize, w: A::Constant) {
    butterfly::<A, FORWARD>(a, v, at, at + 2, w);
    butterfly::<A, FORWARD>(a, v, at + 1, at + 3, w);
}

#[inline(always)]
fn one_apart<A: LaneArithmetic, const FORWARD: bool>(a: A, v: &mut [A::Value], w: Factors<'_, A>) {
    butterfly::<A, FORWARD>(a, v, 0, 1, w.number(a, 3));
    butterfly::<A, FORWARD>(a, v, 2, 3, w.number(a, 4));
    butterfly::<A, FORWARD>(a, v, 4, 5, w.number(a, 5));
    butterfly::<A, FORWARD>(a, v, 6, 7, w.number(a, 6));
}
