//! The tests of `sotto-runtime` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod limbs;
mod programs;
mod signs;
mod tables;
mod two_keys;
