//! The cloud: stores encrypted data of devices, computes on it, and serves the answers. It holds no secret key and
//! links no code that could use one.
//!
//! `api` handles requests; `register` admits devices and parameters, `enrolments` those of a folder; `ingest` accepts
//! envelopes; `evaluate` checks and runs plans; `registry` is the only module that knows the schemes; `store` keeps rows
//! in SQLite and bodies in files (docs/concepts/data-model.md).

mod api;
pub mod backups;
pub mod cli;
mod cloud;
pub mod config;
mod enrolments;
mod evaluate;
mod export;
mod id;
pub mod identity;
mod ingest;
pub mod inspect;
mod lake;
pub mod maintain;
mod objects;
mod problem;
mod progress;
mod quotas;
pub mod reference;
mod register;
mod registry;
pub mod server;
mod startup;
mod store;
mod streams;
mod transcript;
pub mod validate;
pub mod windows;

pub use objects::Place;
