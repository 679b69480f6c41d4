//! The tests of `sotto-pack` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod bounds;
mod documents;
mod kinds;
mod scales;
mod sums;
mod sums_profile;
mod windows;
