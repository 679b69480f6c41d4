//! Residues at b(q) bits each, least significant bit first, each limb padded with zero bits to a byte.

use core::ops::Range;

use sotto_ring::{Eval, Poly, Ring};

use crate::error::WireError;
use crate::reader::Reader;

/// Bytes that a range of limbs takes.
pub(crate) fn packed_bytes(ring: &Ring, limbs: Range<usize>) -> usize {
    limbs.map(|i| (ring.degree() * ring.modulus(i).bits() as usize).div_ceil(8)).sum()
}

/// Appends a polynomial.
pub(crate) fn write_poly(out: &mut Vec<u8>, poly: &Poly<Eval>) {
    for i in poly.limbs() {
        pack(out, poly.limb(i), poly.ring().modulus(i).bits());
    }
}

/// Reads a polynomial over these limbs; every residue must be below its prime.
pub(crate) fn read_poly(
    reader: &mut Reader<'_>,
    ring: &std::sync::Arc<Ring>,
    limbs: Range<usize>,
) -> Result<Poly<Eval>, WireError> {
    // The bytes are here, so the polynomial is at most 64/b(q) times as large as they are.
    let bytes = reader.take(packed_bytes(ring, limbs.clone()))?;
    let mut rest = bytes;
    let mut poly = Poly::zero(ring, limbs.clone());
    for i in limbs {
        let modulus = ring.modulus(i);
        let (limb, after) = rest.split_at(packed_bytes(ring, i..i + 1));
        rest = after;
        unpack(limb, modulus.bits(), poly.limb_mut(i))?;
        // All are compared: a refusal takes no longer than an acceptance.
        let outside = poly.limb(i).iter().fold(false, |any, x| any | (*x >= modulus.value()));
        if outside {
            return Err(WireError::Residue { limb: i });
        }
    }
    Ok(poly)
}

fn pack(out: &mut Vec<u8>, values: &[u64], bits: u32) {
    let (mut buffer, mut held) = (0u128, 0);
    for value in values {
        buffer |= u128::from(*value) << held;
        held += bits;
        if held >= 64 {
            out.extend_from_slice(&(buffer as u64).to_le_bytes());
            buffer >>= 64;
            held -= 64;
        }
    }
    let tail = (buffer as u64).to_le_bytes();
    out.extend_from_slice(&tail[..held.div_ceil(8) as usize]);
}

fn unpack(bytes: &[u8], bits: u32, out: &mut [u64]) -> Result<(), WireError> {
    let mask = u64::MAX >> (64 - bits);
    let (mut buffer, mut held) = (0u128, 0);
    let mut words = bytes.chunks(8);
    for value in out.iter_mut() {
        if held < bits {
            let mut word = [0; 8];
            if let Some(chunk) = words.next() {
                word[..chunk.len()].copy_from_slice(chunk);
            }
            buffer |= u128::from(u64::from_le_bytes(word)) << held;
            held += 64;
        }
        *value = buffer as u64 & mask;
        buffer >>= bits;
        held -= bits;
    }
    if buffer == 0 { Ok(()) } else { Err(WireError::Padding) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_round_trips_at_every_width() {
        for bits in 2..=61 {
            for count in [8, 16, 64] {
                let top = u64::MAX >> (64 - bits);
                let values: Vec<u64> = (0..count)
                    .map(|i| if i % 3 == 0 { top } else { 0x9e37_79b9_7f4a_7c15u64.rotate_left(i) & top })
                    .collect();
                let mut bytes = Vec::new();
                pack(&mut bytes, &values, bits);
                assert_eq!(bytes.len(), (count as usize * bits as usize).div_ceil(8));
                let mut back = vec![0; count as usize];
                unpack(&bytes, bits, &mut back).unwrap();
                assert_eq!(back, values, "{bits} bits");
            }
        }
    }

    #[test]
    fn padding_must_be_zero() {
        let mut bytes = Vec::new();
        pack(&mut bytes, &[1, 2, 3], 3);
        assert_eq!(bytes.len(), 2);
        bytes[1] |= 0x80;
        assert_eq!(unpack(&bytes, 3, &mut [0; 3]), Err(WireError::Padding));
    }
}
