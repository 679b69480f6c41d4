//! The program on a device: reads a source, packs, encrypts, spools, sends. Holds the device's own secret key or none,
//! and does not link decryption.
//!
//! A [`bundle`] from the owner says what the device is. A [`source`] gives rows of readings, [`windows`] packs them by
//! the clock of the plant, [`encrypt`] encrypts a window for its stream; [`device`] signs it and puts it into the
//! [`spool`]. [`send`] brings it to the cloud and deletes it only after a receipt of the cloud names its digest. No log
//! line and no error contains a secret, a key or a reading.

pub mod arguments;
mod backoff;
pub mod bundle;
pub mod clear_log;
pub mod commands;
pub mod device;
pub mod encrypt;
pub mod feed;
pub mod fruitless;
#[cfg(feature = "gateway")]
pub mod gateway;
pub mod journal;
pub mod last_receipts;
pub mod lost;
mod nouns;
pub mod output;
pub mod pinned;
pub mod position;
mod progress;
pub mod send;
pub mod source;
pub mod spool;
pub mod stop;
pub mod streams;
pub mod summary;
pub mod upload;
pub mod windows;
