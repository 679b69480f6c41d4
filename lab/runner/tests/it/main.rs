//! The tests of `sotto-runner` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod comparisons;
mod interleaving;
mod page;
mod processes;
