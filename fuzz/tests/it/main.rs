//! The tests of `sotto-fuzz` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod corpus;
mod mutants;
