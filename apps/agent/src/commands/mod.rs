//! The subcommands beside `run`, one file each. They return the text to print.

pub mod check;
pub mod requeue;
pub mod sources;
pub mod status;
