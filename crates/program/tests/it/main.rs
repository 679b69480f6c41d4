//! The tests of `sotto-program` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod clear;
mod parse;
mod passes;
mod plan;
mod program;
mod random;
