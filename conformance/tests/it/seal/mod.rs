//! SEAL's files in both directions, with SEAL at the other end. SEAL computes with our keys on ciphertexts of our
//! device and decrypts the results; we compute with SEAL's keys on its ciphertexts, and it decrypts them.
//!
//! `SOTTO_SEAL` names an engine that must be installed (`seal`, `pyfhel`); otherwise a test without its engine prints a
//! note.

mod meaning;
mod peer;
mod trips;

use sotto_rlwe::{Bfv, Bgv, Ckks};

#[test]
fn wheel_bfv() {
    trips::ours_to_seal::<Bfv>(&peer::WHEEL, 8192);
    trips::seal_to_ours::<Bfv>(&peer::WHEEL, 8192, &[]);
}

#[test]
fn wheel_ckks() {
    trips::ours_to_seal::<Ckks>(&peer::WHEEL, 8192);
    trips::seal_to_ours::<Ckks>(&peer::WHEEL, 8192, &[60, 40, 40, 60]);
}

#[test]
fn pyfhel_bgv() {
    trips::ours_to_seal::<Bgv>(&peer::BGV, 8192);
    trips::seal_to_ours::<Bgv>(&peer::BGV, 8192, &[55, 54, 54, 55]);
}
