//! The tests of `sotto-owner` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod alarms;
mod choose;
mod conditions;
mod devices;
mod mutes;
mod question;
mod question_carets;
mod question_errors;
mod question_round_trips;
mod questions;
mod schemes;
mod streams;
mod together;
mod wishes;
