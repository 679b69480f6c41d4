//! Programs over Paillier, ElGamal and a recryptor, compared with their meaning in the clear.
#![allow(clippy::unwrap_used)]

mod agents;
mod flows;
mod random;
mod ranges;
mod setting;
