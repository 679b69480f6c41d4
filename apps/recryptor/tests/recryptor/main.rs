//! The recryptor as a process, and those who ask it.
#![allow(clippy::unwrap_used)]

mod audit;
mod client;
mod hostile;
mod lossy;
mod restart;
mod world;
