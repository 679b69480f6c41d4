//! The tests of `sotto-decrypt` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod elgamal;
mod encodings;
mod flooding;
mod gaussian;
mod levels;
mod lwe;
mod packings;
mod paillier;
mod recryptor;
mod ristretto;

#[allow(dead_code, reason = "other crates read it too")]
#[path = "../../../ring/tests/it/statistics/mod.rs"]
mod statistics;
