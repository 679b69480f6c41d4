//! The tests of `sotto-seal` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod claims;
mod foreign;
mod golden;
mod known_answers;
mod one_prime;
mod refusals;
mod scales;
mod tenseal;
mod versions;
