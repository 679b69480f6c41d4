//! AES-128 in counter mode, eight registers at a time (FIPS 197; SP 800-38A).

use super::lanes::{Aes, FLIGHT};
use crate::streams::AesLanes;
use crate::wiped::wipe;

#[inline(always)]
pub(in crate::vectors) fn keystream<A: Aes<BYTES>, const BYTES: usize>(
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
    // Words are kept in native byte order, so that the last one can count, and are reversed for each block.
    let mut start = *block;
    start[12..].copy_from_slice(&counter.to_be_bytes());
    start.as_chunks_mut::<4>().0.iter_mut().for_each(|word| word.reverse());
    let mut step = [0; 16];
    step[12] = (BYTES / 16) as u8;
    let (mut counters, step) = (a.add(a.load(&start), a.numbers()), a.load(&step));
    wipe(&mut start);
    let (lines, tail) = out.as_chunks_mut::<BYTES>();
    let (flights, rest) = lines.as_chunks_mut::<FLIGHT>();
    for flight in flights {
        run(a, &keys, &mut counters, step, flight);
    }
    if rest.is_empty() && tail.is_empty() {
        return;
    }
    let mut last = [[0; BYTES]; FLIGHT];
    run(a, &keys, &mut counters, step, &mut last);
    let (last, rest) = (last.as_flattened_mut(), rest.as_flattened_mut());
    let (whole, cut) = last.split_at(rest.len());
    rest.copy_from_slice(whole);
    tail.copy_from_slice(&cut[..tail.len()]);
    wipe(last);
}

#[inline(always)]
fn run<A: Aes<BYTES>, const BYTES: usize>(
    a: A,
    keys: &[A::Block; 11],
    counters: &mut A::Block,
    step: A::Block,
    out: &mut [[u8; BYTES]; FLIGHT],
) {
    let mut states = [*counters; FLIGHT];
    for state in &mut states {
        *state = a.turned(*counters);
        *counters = a.add(*counters, step);
    }
    a.encrypt(keys, &mut states);
    for (out, state) in out.iter_mut().zip(states) {
        a.store(out, state);
    }
}
