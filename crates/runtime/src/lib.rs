//! Lowers programs to plans for a scheme and its parameters, checks plans, and runs them on ciphertexts.

mod check;
mod choose;
mod constants;
mod error;
mod execute;
mod input_keys;
mod lower;
mod manage;
mod memory;
mod order;
mod run;
mod threads;

pub use check::{check, reduction};
pub use choose::{Asked, Choice, ChooseError, choose};
pub use error::RunError;
pub use lower::{Builder, Encoding, Lowered, Merged, Planned, RlweTarget};
pub use manage::Managed;
pub use run::{run, run_on};
pub use threads::{Threads, ThreadsError};
