//! The tests of `sotto-rlwe` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod chain_requests;
mod encodings;
mod hostile_parameters;
mod injection;
#[allow(unreachable_pub, reason = "examples of documentation include it")]
mod owner;
mod plain_operands;
mod security_cells;
