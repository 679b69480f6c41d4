//! ChaCha20 (RFC 8439).

use super::Arx;
use crate::streams::{BlockLanes, LANES, ROUNDS, double_round};

#[inline(always)]
pub(in crate::vectors) fn chacha20<A: Arx<COUNT>, const COUNT: usize>(
    a: A,
    states: &BlockLanes,
    out: &mut BlockLanes,
) {
    for part in 0..LANES / COUNT {
        let start = |word: usize| a.load(&states[word].as_chunks().0[part]);
        let mut x: [A::Word; 16] = core::array::from_fn(start);
        for _ in 0..ROUNDS {
            double_round!(|at| quarter(a, &mut x, at));
        }
        for (word, x) in x.into_iter().enumerate() {
            a.store(&mut out[word].as_chunks_mut().0[part], a.add(x, start(word)));
        }
    }
}

/// Section 2.1.
#[inline(always)]
fn quarter<A: Arx<COUNT>, const COUNT: usize>(a: A, x: &mut [A::Word; 16], at: [usize; 4]) {
    let [mut p, mut q, mut r, mut s] = at.map(|at| x[at]);
    p = a.add(p, q);
    s = a.rotate::<16, 16>(a.differ(s, p));
    r = a.add(r, s);
    q = a.rotate::<20, 12>(a.differ(q, r));
    p = a.add(p, q);
    s = a.rotate::<24, 8>(a.differ(s, p));
    r = a.add(r, s);
    q = a.rotate::<25, 7>(a.differ(q, r));
    [x[at[0]], x[at[1]], x[at[2]], x[at[3]]] = [p, q, r, s];
}
