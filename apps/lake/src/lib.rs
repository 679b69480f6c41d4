//! The lake: SQL over the windows and ciphertexts of a cloud's store, with sums whose tags the owner checks. DataFusion plans and
//! runs, on this machine or on several; nothing here schedules.
//!
//! `store` reads a catalogue and segments beside the cloud; `windows` and `ciphertexts` make tables of them; `sums` and `evaluate`
//! have the aggregate functions; `workers` divides a query among machines.

#![forbid(unsafe_code)]

pub mod answer;
mod bytes;
pub mod ciphertexts;
mod codec;
mod error;
pub mod evaluate;
mod grouped;
mod leaf;
pub mod print;
pub mod serve;
pub mod session;
pub mod store;
pub mod sums;
mod table;
pub mod windows;
pub mod workers;

pub use error::LakeError;
pub use table::StoreTable;
