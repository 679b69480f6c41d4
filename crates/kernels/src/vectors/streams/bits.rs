//! Packed bits: eight values of b bits are exactly b bytes. Layout: docs/math/sampling.md.

use super::lanes::StreamLanes;
use crate::modulus::Modulus;
use crate::streams::{Streams, within_eight_bytes};

/// Packs eight values at a time. Each is written as a word at the byte where it begins, together with the bits of the
/// previous value in that byte. Values of up to 57 bits begin and end within eight bytes.
pub(in crate::vectors) fn pack(values: &[u64], bits: u32, out: &mut [u8]) {
    if bits > 57 {
        return (Streams::SCALAR.pack)(values, bits, out);
    }
    let step = bits as usize;
    let (groups, _) = values.as_chunks::<8>();
    let mut done = 0;
    for (group, start) in groups.iter().zip((0..).step_by(step)) {
        // The window overlaps the bytes of the next values, which are written later.
        let Some(window) = out.get_mut(start..).and_then(|bytes| bytes.first_chunk_mut::<64>()) else {
            break;
        };
        let (mut left, mut at) = (0, 0);
        for value in group {
            let word = value << (at % 8) | left;
            if let Some(bytes) = window[(at / 8) as usize..].first_chunk_mut::<8>() {
                *bytes = word.to_le_bytes();
            }
            let end = at % 8 + bits;
            left = word.checked_shr(end / 8 * 8).unwrap_or(0);
            at += bits;
        }
        done += 1;
    }
    (Streams::SCALAR.pack)(&values[8 * done..], bits, &mut out[done * step..]);
}

/// Unpacks. Two neighbours lie within 16 bytes: the first in eight from its start on, the second at most eight bytes
/// later. The scalar kernel handles strides whose values may span nine bytes.
#[inline(always)]
pub(in crate::vectors) fn residues<L: StreamLanes>(
    l: L,
    m: &Modulus,
    bytes: &[u8],
    stride: u32,
    out: &mut [u64],
) -> bool {
    if !within_eight_bytes(stride) {
        return (Streams::SCALAR.residues)(m, bytes, stride, out);
    }
    let (mut starts, mut places, mut shifts) = ([0u8; 4], [0u8; 64], [0u64; 8]);
    for lane in 0..8 {
        let bit = lane as u32 * stride;
        shifts[lane] = u64::from(bit % 8);
        let start = lane as u32 / 2 * 2 * stride / 8;
        starts[lane / 2] = start as u8;
        for byte in 0..8 {
            places[8 * lane + byte] = (bit / 8 - start) as u8 + byte as u8;
        }
    }
    let (mut place, mut shift) = ([l.all(0); 8], [l.all(0); 8]);
    for (place, line) in place.iter_mut().zip(L::byte_lines(&places).0) {
        *place = l.load_bytes(line);
    }
    for (shift, line) in shift.iter_mut().zip(L::lines(&shifts).0) {
        *shift = l.load(line);
    }
    let (q, mask) = (l.all(m.value()), l.all(u64::MAX >> (64 - m.bits())));
    let step = stride as usize;
    let (mut outside, mut done) = (l.all(0), 0);
    let (groups, _) = out.as_chunks_mut::<8>();
    for (group, start) in groups.iter_mut().zip((0..).step_by(step)) {
        let Some(window) = bytes.get(start..).and_then(|bytes| bytes.first_chunk::<64>()) else { break };
        let starts = starts.chunks_exact(L::COUNT / 2);
        for (((line, starts), place), shift) in
            L::lines_mut(group).0.iter_mut().zip(starts).zip(&place).zip(&shift)
        {
            let value = l.and(l.shift_right_by(l.spread(window, starts, *place), *shift), mask);
            outside = l.or(outside, l.reached(value, q));
            l.store(line, value);
        }
        done += 1;
    }
    let (rest, at) = (&mut out[8 * done..], done * step);
    let late = (Streams::SCALAR.residues)(m, &bytes[at..], stride, rest);
    l.any(outside) | late
}
