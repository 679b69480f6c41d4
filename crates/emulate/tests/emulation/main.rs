//! Programs over Paillier, ElGamal and an agent, against their meaning in the clear.
#![allow(clippy::unwrap_used)]

mod agents;
mod flows;
mod random;
mod ranges;
mod setting;
