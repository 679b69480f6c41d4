//! Packed bits: eight values of b bits are exactly b bytes. Layout and proof: docs/math/sampling.md.

use core::arch::x86_64::*;

use super::lanes::{all, load, load_bytes, store, store_bytes};
use crate::modulus::Modulus;
use crate::streams::{Streams, accept_from, within_eight_bytes};

/// Finds for each lane the eight bytes that hold its value and the shift inside them. The scalar kernel handles strides
/// whose values may span nine bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn residues(m: &Modulus, bytes: &[u8], stride: u32, out: &mut [u64]) -> bool {
    if !within_eight_bytes(stride) {
        return (Streams::SCALAR.residues)(m, bytes, stride, out);
    }
    let (mut places, mut shifts) = ([0u8; 64], [0u64; 8]);
    for (lane, (shift, places)) in shifts.iter_mut().zip(places.as_chunks_mut::<8>().0).enumerate() {
        let bit = lane as u32 * stride;
        *shift = u64::from(bit % 8);
        for (byte, place) in places.iter_mut().enumerate() {
            *place = ((bit / 8) as u8).wrapping_add(byte as u8) & 63;
        }
    }
    let (places, shifts) = (load_bytes(&places), load(&shifts));
    let (q, mask) = (all(m.value()), all(u64::MAX >> (64 - m.bits())));
    let step = stride as usize;
    let mut outside = 0;
    let (lines, rest) = out.as_chunks_mut::<8>();
    let mut done = 0;
    for (line, start) in lines.iter_mut().zip((0..).step_by(step)) {
        let Some(window) = bytes.get(start..).and_then(|bytes| bytes.first_chunk::<64>()) else { break };
        let moved = _mm512_permutexvar_epi8(places, load_bytes(window));
        let value = _mm512_and_si512(_mm512_srlv_epi64(moved, shifts), mask);
        outside |= _mm512_cmpge_epu64_mask(value, q);
        store(line, value);
        done += 1;
    }
    let (lines, at) = (&mut lines[done..], done * step);
    let scalar = |bytes: &[u8], out: &mut [u64]| (Streams::SCALAR.residues)(m, bytes, stride, out);
    let late = scalar(&bytes[at..], lines.as_flattened_mut());
    let last = scalar(&bytes[at + lines.len() * step..], rest);
    outside != 0 || late || last
}

/// Largest number of values that share a 64-bit word of the packed bytes, for values of at least [`NARROWEST`] bits.
const PARTS: usize = 5;
const NARROWEST: u32 = 16;

/// Packs. A word of the output is the sum of its values, each shifted to its place.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn pack(values: &[u64], bits: u32, out: &mut [u8]) {
    if bits < NARROWEST {
        return (Streams::SCALAR.pack)(values, bits, out);
    }
    // For word k: the values first, first + 1, …, the shift down of the first, and the shifts up of the others.
    let (mut sources, mut ups, mut down) = ([[0u64; 8]; PARTS], [[64u64; 8]; PARTS], [64u64; 8]);
    for word in 0..8u32 {
        let first = word * 64 / bits;
        down[word as usize] = if first < 8 { u64::from(word * 64 - first * bits) } else { 64 };
        for part in 1..PARTS as u32 {
            let source = first + part;
            if source < 8 && source * bits < (word + 1) * 64 {
                ups[part as usize][word as usize] = u64::from(source * bits - word * 64);
            }
        }
        for part in 0..PARTS as u32 {
            sources[part as usize][word as usize] = u64::from((first + part) & 7);
        }
    }
    let (sources, ups) = (sources.each_ref().map(|line| load(line)), ups.each_ref().map(|line| load(line)));
    let down = load(&down);
    let parts = (63 / bits as usize + 2).min(PARTS);
    let step = bits as usize;
    let (lines, _) = values.as_chunks::<8>();
    let mut done = 0;
    for (line, start) in lines.iter().zip((0..).step_by(step)) {
        // The window overlaps the bytes of the next values, which are written later.
        let Some(window) = out.get_mut(start..).and_then(|bytes| bytes.first_chunk_mut::<64>()) else {
            break;
        };
        let value = load(line);
        let mut packed = _mm512_srlv_epi64(_mm512_permutexvar_epi64(sources[0], value), down);
        for part in 1..parts {
            let moved = _mm512_sllv_epi64(_mm512_permutexvar_epi64(sources[part], value), ups[part]);
            packed = _mm512_or_si512(packed, moved);
        }
        store_bytes(window, packed);
        done += 1;
    }
    (Streams::SCALAR.pack)(&values[8 * done..], bits, &mut out[done * step..]);
}

/// Moves the residues below q to the front, in order, and returns their number.
#[target_feature(enable = "avx512f")]
pub(super) fn accept(m: &Modulus, values: &mut [u64]) -> usize {
    let q = all(m.value());
    let mut kept = 0;
    let mut at = 0;
    // The write index never passes the read index, so a whole line may be overwritten.
    while let Some(line) = values.get(at..).and_then(|values| values.first_chunk::<8>()) {
        let x = load(line);
        let below = _mm512_cmplt_epu64_mask(x, q);
        let Some(target) = values.get_mut(kept..).and_then(|values| values.first_chunk_mut::<8>()) else {
            break;
        };
        store(target, _mm512_maskz_compress_epi64(below, x));
        kept += below.count_ones() as usize;
        at += 8;
    }
    accept_from(m, values, at, kept)
}

/// Replaces values that are not below q by `fresh`, in order. Stops when fewer than eight fresh values are left.
#[target_feature(enable = "avx512f")]
pub(super) fn replace(m: &Modulus, values: &mut [u64], fresh: &[u64]) -> (usize, usize) {
    let q = all(m.value());
    let (mut done, mut used) = (0, 0);
    for line in values.as_chunks_mut::<8>().0 {
        let x = load(line);
        let outside = _mm512_cmpge_epu64_mask(x, q);
        let Some(next) = fresh.get(used..).and_then(|fresh| fresh.first_chunk::<8>()) else { break };
        store(line, _mm512_mask_expand_epi64(x, outside, load(next)));
        used += outside.count_ones() as usize;
        done += 8;
    }
    let (rest_done, rest_used) = (Streams::SCALAR.replace)(m, &mut values[done..], &fresh[used..]);
    (done + rest_done, used + rest_used)
}
