//! Sums without a lattice, from the device to the owner.
#![allow(missing_docs, clippy::unwrap_used)]

mod known_answers;
mod properties;
mod refusals;
mod windows;
