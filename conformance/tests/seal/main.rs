//! SEAL's files both ways, with SEAL at the other end: what a device of ours encrypts, SEAL computes on with our keys and
//! decrypts; what SEAL encrypts, we compute on with its keys and it decrypts.
//!
//! `SOTTO_SEAL` names an engine that has to be there (`seal`, `pyfhel`); otherwise a test whose engine is not installed says so.
#![allow(clippy::unwrap_used)]

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
