//! Conversions between the limbs of the vector files and polynomials.

use core::ops::Range;
use std::sync::Arc;

use sotto_ring::{Form, Poly, Ring};

/// Makes a polynomial of given residues; `limbs` are the indices of its limbs in the ring.
pub fn poly<F: Form>(ring: &Arc<Ring>, limbs: Range<usize>, residues: &[Vec<u64>]) -> Poly<F> {
    assert_eq!(limbs.len(), residues.len(), "residues for each limb");
    let mut out = Poly::zero(ring, limbs.clone());
    for (i, limb) in limbs.zip(residues) {
        out.limb_mut(i).copy_from_slice(limb);
    }
    out
}

/// Panics with the first residue that differs.
#[track_caller]
pub fn assert_limbs<F: Form>(what: &str, found: &Poly<F>, expected: &[Vec<u64>]) {
    assert_eq!(found.limbs().len(), expected.len(), "{what}: number of limbs");
    for (i, limb) in found.limbs().zip(expected) {
        let (q, found) = (found.ring().modulus(i).value(), found.limb(i));
        assert_eq!(found.len(), limb.len(), "{what}: degree");
        if let Some(k) = (0..limb.len()).find(|k| found[*k] != limb[*k]) {
            panic!("{what}: entry {k} modulo {q} is {}, not {}", found[k], limb[k]);
        }
    }
}
