//! The tests of `sotto-he` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod facade;
mod side_by_side;
