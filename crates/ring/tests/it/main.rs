//! The tests of `sotto-ring` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod samplers;
mod small;
#[allow(dead_code, reason = "other crates read it too")]
mod statistics;
