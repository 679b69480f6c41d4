//! The tests of `sotto-engine` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod protocol;
