//! The tests of `sotto-harness` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod installed;
