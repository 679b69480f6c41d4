//! The compression function of BLAKE3. `streams/blake3.rs` has its constants.

use super::Arx;
use crate::streams::{BlockLanes, CONSTANTS, LANES, ORDERS, ValueLanes, round};

#[inline(always)]
pub(in crate::vectors) fn blake3<A: Arx<COUNT>, const COUNT: usize>(
    a: A,
    values: &mut ValueLanes,
    block: &BlockLanes,
    bytes: u32,
    flags: u32,
) {
    for part in 0..LANES / COUNT {
        let message = |word: usize| a.load(&block[word].as_chunks().0[part]);
        let mut v = [a.all(0); 16];
        for (word, value) in v.iter_mut().zip(values.iter()) {
            *word = a.load(&value.as_chunks().0[part]);
        }
        for (word, start) in v[8..].iter_mut().zip(CONSTANTS.into_iter().chain([0, 0, bytes, flags])) {
            *word = a.all(start);
        }
        // The order is a constant in each round, as indices into memory take instructions.
        let [first, second, third, fourth, fifth, sixth, seventh] = ORDERS;
        round!(first, |at, x, y| quarter(a, &mut v, at, message(x), message(y)));
        round!(second, |at, x, y| quarter(a, &mut v, at, message(x), message(y)));
        round!(third, |at, x, y| quarter(a, &mut v, at, message(x), message(y)));
        round!(fourth, |at, x, y| quarter(a, &mut v, at, message(x), message(y)));
        round!(fifth, |at, x, y| quarter(a, &mut v, at, message(x), message(y)));
        round!(sixth, |at, x, y| quarter(a, &mut v, at, message(x), message(y)));
        round!(seventh, |at, x, y| quarter(a, &mut v, at, message(x), message(y)));
        for (word, value) in values.iter_mut().enumerate() {
            a.store(&mut value.as_chunks_mut().0[part], a.differ(v[word], v[word + 8]));
        }
    }
}

/// The function G of section 2.2. Message words are added first: they do not wait for `q`.
#[inline(always)]
fn quarter<A: Arx<COUNT>, const COUNT: usize>(
    a: A,
    v: &mut [A::Word; 16],
    at: [usize; 4],
    x: A::Word,
    y: A::Word,
) {
    let [mut p, mut q, mut r, mut s] = at.map(|at| v[at]);
    p = a.add(a.add(p, x), q);
    s = a.rotate::<16, 16>(a.differ(s, p));
    r = a.add(r, s);
    q = a.rotate::<12, 20>(a.differ(q, r));
    p = a.add(a.add(p, y), q);
    s = a.rotate::<8, 24>(a.differ(s, p));
    r = a.add(r, s);
    q = a.rotate::<7, 25>(a.differ(q, r));
    [v[at[0]], v[at[1]], v[at[2]], v[at[3]]] = [p, q, r, s];
}
