//! The cloud as its devices and its owner see it: over HTTP, with real ciphertexts, and with an eye on its store.

#![allow(clippy::unwrap_used)]

mod device;
mod enrolments;
mod flood;
mod jobs;
mod listing;
mod owner;
mod process;
mod refusals;
mod restart;
mod store;
mod transfers;
mod uploads;
mod world;
