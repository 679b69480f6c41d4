//! The tests of `sotto-lab` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod program;
