//! The tests of `sotto-agent` that use only its public interface: one executable.
#![allow(clippy::unwrap_used)]

mod bundle;
mod cases;
mod encryption;
mod files;
#[cfg(all(feature = "gateway", unix))]
mod gateway;
mod joined;
mod messes;
mod places;
mod rows;
mod run;
mod site;
mod slots;
mod sources;
mod spool;
mod sums;
#[cfg(feature = "tables")]
mod tables;
mod upload;
