//! The tests of `sotto-cloud-client` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod hostile;
mod stand_in;
