//! The recryptor as a process, and its clients.
#![allow(clippy::unwrap_used)]

mod audit;
mod client;
mod hostile;
mod lossy;
mod restart;
mod world;
