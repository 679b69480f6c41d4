//! The tests of `sotto-keys` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod derivation;

#[allow(dead_code, reason = "other crates read it too")]
#[path = "../../../ring/tests/it/statistics/mod.rs"]
mod statistics;
