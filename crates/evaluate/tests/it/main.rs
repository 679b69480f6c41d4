//! The tests of `sotto-evaluate` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod known_answers;
mod refusals;
mod tagged;
