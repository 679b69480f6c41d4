//! The tests of `sotto-program` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod alarm;
mod clear;
mod parse;
mod passes;
mod plan;
mod program;
mod question;
mod question_errors;
mod question_round_trips;
mod random;
