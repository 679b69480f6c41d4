//! Packs residues at b(q) bits each, least significant bit first; each limb is padded with zero bits to a byte.

use alloc::vec::Vec;
use core::ops::Range;

use sotto_ring::{Eval, Modulus, Poly, Ring, Target};

use crate::error::WireError;
use crate::reader::Reader;

/// Returns the number of bytes that a range of limbs takes.
pub(crate) fn packed_bytes(ring: &Ring, limbs: Range<usize>) -> usize {
    limbs.map(|i| (ring.degree() * ring.modulus(i).bits() as usize).div_ceil(8)).sum()
}

/// Appends a polynomial.
pub(crate) fn write_poly(out: &mut Vec<u8>, poly: &Poly<Eval>) {
    for i in poly.limbs() {
        pack(out, poly.limb(i), poly.ring().modulus(i).bits());
    }
}

/// Reads a polynomial over these limbs.
///
/// # Errors
/// [`WireError::Residue`] if a residue is not below its prime, `Padding` if padding bits are not zero.
pub(crate) fn read_poly(
    reader: &mut Reader<'_>,
    ring: &alloc::sync::Arc<Ring>,
    limbs: Range<usize>,
) -> Result<Poly<Eval>, WireError> {
    // The bytes were received, so the polynomial is at most 64/b(q) times as large as they are.
    let bytes = reader.take(packed_bytes(ring, limbs.clone()))?;
    let mut rest = bytes;
    let mut poly = Poly::unfilled(ring, limbs.clone());
    for i in limbs {
        let modulus = ring.modulus(i);
        let (limb, after) = rest.split_at(packed_bytes(ring, i..i + 1));
        rest = after;
        // Every residue is compared, so a refusal takes no longer than an acceptance.
        let outside = unpack(limb, modulus, poly.limb_mut(i))?;
        if outside {
            return Err(WireError::Residue { limb: i });
        }
    }
    Ok(poly)
}

/// Appends residues of `bits` bits each.
pub(crate) fn pack(out: &mut Vec<u8>, values: &[u64], bits: u32) {
    let start = out.len();
    out.resize(start + (values.len() * bits as usize).div_ceil(8), 0);
    (Target::best().streams.pack)(values, bits, &mut out[start..]);
}

/// Unpacks residues. Returns true if a residue is not below the modulus.
///
/// # Errors
/// [`WireError::Padding`] if padding bits are not zero.
pub(crate) fn unpack(bytes: &[u8], modulus: &Modulus, out: &mut [u64]) -> Result<bool, WireError> {
    let over = (out.len() * modulus.bits() as usize) % 8;
    if over != 0 && bytes.last().is_some_and(|last| last >> over != 0) {
        return Err(WireError::Padding);
    }
    Ok((Target::best().streams.residues)(modulus, bytes, modulus.bits(), out))
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
                let modulus = Modulus::new(top).unwrap();
                assert_eq!(unpack(&bytes, &modulus, &mut back), Ok(true), "{bits} bits");
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
        let modulus = Modulus::new(7).unwrap();
        assert_eq!(unpack(&bytes, &modulus, &mut [0; 3]), Err(WireError::Padding));
        bytes[1] &= 0x7f;
        assert_eq!(unpack(&bytes, &modulus, &mut [0; 3]), Ok(false));
    }
}
