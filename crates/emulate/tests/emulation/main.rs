//! Programs over Paillier, ElGamal and an recryptor, against their meaning in the clear.
#![allow(clippy::unwrap_used)]

mod agents;
mod flows;
mod random;
mod ranges;
mod setting;
