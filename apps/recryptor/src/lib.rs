//! The re-encryption agent as a service, the *recryptor*: it holds the secret keys of the partially homomorphic
//! schemes, and performs for the cloud the operations that ciphertexts alone do not allow. Its guarantees, and the data
//! it sees: docs/concepts/partial.md.
//!
//! `api` handles requests; `exchange` reads, charges and answers a batch; `ledger` keeps counts of requests in SQLite.
//! A batch is charged durably before any of it is decrypted, and only once, however often it is sent.

mod api;
pub mod audit;
pub mod callers;
pub mod cli;
pub mod config;
mod exchange;
mod ledger;
mod recryptor;
pub mod server;
pub mod validate;
