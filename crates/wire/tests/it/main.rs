//! The tests of `sotto-wire` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod arrived;
#[cfg(feature = "plan")]
mod frames;
mod group;
mod order;
#[cfg(feature = "partial")]
mod partial;
mod places;
mod position;
mod seeded_writer;
mod sums;
mod transcript;
mod window;
mod written_out;
