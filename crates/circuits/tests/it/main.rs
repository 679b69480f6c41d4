//! The tests of `sotto-circuits` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod comparisons;
mod meaning;
mod tables_clear;
mod tracking;

#[allow(unreachable_pub, reason = "examples of documentation include it")]
#[path = "../../../rlwe/tests/it/owner/mod.rs"]
mod owner;
