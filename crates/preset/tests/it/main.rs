//! Tests of presets.
#![allow(clippy::unwrap_used)]

mod hostile;
mod recorded;
