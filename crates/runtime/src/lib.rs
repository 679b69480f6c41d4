//! Lowers programs to plans for a scheme and its parameters, checks plans, runs them on ciphertexts.

mod choose;
mod constants;
mod error;
mod input_keys;
mod lower;
mod manage;
mod run;

pub use choose::{Asked, Choice, ChooseError, choose};
pub use error::RunError;
pub use lower::{Builder, Encoding, Lowered, RlweTarget};
pub use manage::Managed;
pub use run::{check, run};
