//! The tests of `sotto-evaluate` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod known_answers;
#[allow(unreachable_pub, reason = "examples include the file")]
#[path = "../../../rlwe/tests/it/owner/mod.rs"]
mod owner;
mod refusals;
mod switched;
mod tagged;
