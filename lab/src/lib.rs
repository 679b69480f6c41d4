//! Other libraries, and our own, as engines: what they are, how they are installed, and how they are spoken to.
//!
//! An engine is a process that answers requests line by line: `engines/PROTOCOL.md` is the whole of it. [`Engine`] names one
//! and installs it, [`Process`] speaks with it, [`protocol`] has the requests and replies as types.

mod engine;
mod error;
mod install;
mod process;
pub mod protocol;
pub mod tasks;

pub use engine::{
    ENGINES, Engine, FHE_RS, LATTIGO, OPENFHE, PYFHEL, PYTHON_PAILLIER, Recipe, SEAL, SOTTO, TENSEAL,
};
pub use error::LabError;
pub use install::{Installed, cache_folder};
pub use process::Process;
