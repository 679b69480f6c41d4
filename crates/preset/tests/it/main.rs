//! Tests of presets.

mod hostile;
mod recorded;
