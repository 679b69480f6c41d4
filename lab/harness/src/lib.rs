//! Libraries of homomorphic encryption as engines: which there are, how they are installed, and the protocol that they
//! answer.
//!
//! An engine is a process that answers requests line by line, as specified in `engines/PROTOCOL.md`. [`Engine`] names
//! one and installs it, [`Process`] runs it and sends requests, [`protocol`] has the requests and replies as types.

pub mod comparisons;
mod engine;
mod error;
mod examine;
mod install;
mod process;
pub mod protocol;
pub mod tasks;
mod values;
pub mod windows;

pub use engine::{
    ENGINES, Engine, FHE_RS, LATTIGO, OPENFHE, POULPY, PYFHEL, PYTHON_PAILLIER, Recipe, SEAL, SOTTO, TENSEAL,
    TFHE_RS,
};
pub use error::LabError;
pub use examine::{Examination, State};
pub use install::{Installed, cache_folder};
pub use process::Process;
