//! The re-encryption agent as a service: it holds the secret keys of the partially homomorphic lane, and answers batches of
//! what ciphertexts alone cannot do. What it sees and what it promises: docs/concepts/partial.md.
//!
//! A request comes in through `api`; `exchange` reads a batch, charges it and answers it; `ledger` keeps what was asked, as
//! counts, in SQLite. A batch is charged durably before anything of it is decrypted, and once, however often it is asked.

mod api;
pub mod audit;
pub mod callers;
pub mod cli;
pub mod config;
mod exchange;
mod ledger;
mod recryptor;
pub mod server;
