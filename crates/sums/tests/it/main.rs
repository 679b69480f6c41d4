//! Sums without a lattice, from the device to the owner.
#![allow(missing_docs, clippy::unwrap_used)]

mod fleet;
mod known_answers;
mod properties;
mod refusals;
mod windows;
