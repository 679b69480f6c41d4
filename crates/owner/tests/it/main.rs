//! The tests of `sotto-owner` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod alarms;
mod choose;
mod devices;
mod questions;
