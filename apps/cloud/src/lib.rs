//! The cloud: takes in what devices encrypted, stores it, computes on it, serves the answers. It holds no secret key and
//! links no code that could use one.
//!
//! A request comes in through `api`; `ingest` takes an envelope in, `enrolments` registers devices from a folder,
//! `evaluate` checks and runs plans; `registry` is the one place that knows the schemes; `store` keeps rows in SQLite and
//! bodies in files (docs/concepts/data-model.md).

mod api;
pub mod cli;
mod cloud;
pub mod columns;
pub mod config;
mod enrolments;
mod evaluate;
mod fleets;
mod id;
pub mod identity;
mod ingest;
pub mod maintain;
mod problem;
mod quotas;
mod registry;
pub mod server;
mod store;
mod sums;
mod transcript;
