//! AES-128 in counter mode, 32 blocks in eight registers at a time (FIPS 197; SP 800-38A).

use core::arch::x86_64::*;

use super::lanes::{load_block, store_block, store_bytes};
use crate::streams::{AesLanes, RoundKeys};
use crate::wiped::wipe;

/// Registers in flight: the latency of a round times its throughput.
const FLIGHT: usize = 8;
const BYTES: usize = 64 * FLIGHT;

#[target_feature(enable = "aes,sse2")]
pub(crate) fn expand_key(key: &[u8; 16], rounds: &mut RoundKeys) {
    rounds[0] = *key;
    macro_rules! next {
        ($($round:literal: $constant:literal),*) => {$({
            let last = load_block(&rounds[$round - 1]);
            let word = _mm_shuffle_epi32::<0xff>(_mm_aeskeygenassist_si128::<$constant>(last));
            let one = _mm_xor_si128(last, _mm_slli_si128::<4>(last));
            let two = _mm_xor_si128(one, _mm_slli_si128::<8>(one));
            store_block(&mut rounds[$round], _mm_xor_si128(two, word));
        })*};
    }
    next!(1: 0x01, 2: 0x02, 3: 0x04, 4: 0x08, 5: 0x10, 6: 0x20, 7: 0x40, 8: 0x80, 9: 0x1b, 10: 0x36);
}

#[target_feature(enable = "aes,vaes,avx512f,avx512bw")]
pub(super) fn keystream(key: &AesLanes, block: &[u8; 16], counter: u32, out: &mut [u8]) {
    let rounds = key.rounds.each_ref().map(|round| _mm512_broadcast_i32x4(load_block(round)));
    // The counter is kept in native byte order in the last word of a block, and its bytes are reversed before use.
    let mut start = *block;
    start[12..].copy_from_slice(&counter.to_le_bytes());
    let lanes = _mm512_set_epi32(3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
    let mut counters = _mm512_add_epi32(_mm512_broadcast_i32x4(load_block(&start)), lanes);
    wipe(&mut start);
    let four = _mm512_set_epi32(4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0);
    let turn = _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    let mut next = |parts: &mut [[u8; 64]]| {
        let mut states = [_mm512_setzero_si512(); FLIGHT];
        for state in &mut states {
            *state = _mm512_xor_si512(_mm512_shuffle_epi8(counters, turn), rounds[0]);
            counters = _mm512_add_epi32(counters, four);
        }
        for round in &rounds[1..10] {
            for state in &mut states {
                *state = _mm512_aesenc_epi128(*state, *round);
            }
        }
        for (state, part) in states.into_iter().zip(parts) {
            store_bytes(part, _mm512_aesenclast_epi128(state, rounds[10]));
        }
    };
    let (lines, tail) = out.as_chunks_mut::<64>();
    let mut flights = lines.chunks_exact_mut(FLIGHT);
    flights.by_ref().for_each(&mut next);
    let rest = flights.into_remainder().as_flattened_mut();
    if rest.is_empty() && tail.is_empty() {
        return;
    }
    let mut last = [[0; 64]; FLIGHT];
    next(&mut last);
    let (whole, cut) = last.as_flattened().split_at(rest.len());
    rest.copy_from_slice(whole);
    tail.copy_from_slice(&cut[..tail.len()]);
    wipe(last.as_flattened_mut());
    debug_assert!(rest.len() + tail.len() <= BYTES);
}
