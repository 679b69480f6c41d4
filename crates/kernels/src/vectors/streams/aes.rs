//! AES-128 in counter mode, eight blocks at a time (FIPS 197; SP 800-38A).

use super::lanes::{Aes, FLIGHT};
use crate::streams::AesLanes;
use crate::wiped::wipe;

#[inline(always)]
pub(in crate::vectors) fn keystream<A: Aes>(
    a: A,
    key: &AesLanes,
    block: &[u8; 16],
    counter: u32,
    out: &mut [u8],
) {
    let mut keys = [a.load(&[0; 16]); 11];
    for (key, round) in keys.iter_mut().zip(key.rounds.iter()) {
        *key = a.load(round);
    }
    // Words are kept in the machine's order, for the last one to count, and turned around each time.
    let mut start = *block;
    start[12..].copy_from_slice(&counter.to_be_bytes());
    start.as_chunks_mut::<4>().0.iter_mut().for_each(|word| word.reverse());
    let mut one = [0; 16];
    one[12] = 1;
    let (mut counters, one) = (a.load(&start), a.load(&one));
    wipe(&mut start);
    let (blocks, tail) = out.as_chunks_mut::<16>();
    let (flights, rest) = blocks.as_chunks_mut::<FLIGHT>();
    for flight in flights {
        run(a, &keys, &mut counters, one, flight);
    }
    if rest.is_empty() && tail.is_empty() {
        return;
    }
    let mut last = [[0; 16]; FLIGHT];
    run(a, &keys, &mut counters, one, &mut last);
    let (whole, cut) = last.as_flattened().split_at(16 * rest.len());
    rest.as_flattened_mut().copy_from_slice(whole);
    tail.copy_from_slice(&cut[..tail.len()]);
    wipe(last.as_flattened_mut());
}

#[inline(always)]
fn run<A: Aes>(
    a: A,
    keys: &[A::Block; 11],
    counters: &mut A::Block,
    one: A::Block,
    out: &mut [[u8; 16]; FLIGHT],
) {
    let mut states = [*counters; FLIGHT];
    for state in &mut states {
        *state = a.turned(*counters);
        *counters = a.add(*counters, one);
    }
    a.encrypt(keys, &mut states);
    for (out, state) in out.iter_mut().zip(states) {
        a.store(out, state);
    }
}
