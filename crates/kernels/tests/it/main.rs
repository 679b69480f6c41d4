//! The tests of `sotto-kernels` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod hashes;
mod streams;
