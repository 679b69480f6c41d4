//! The cloud's work on stored ciphertexts: jobs by a plan, and sums of compact windows.
//!
//! The cloud and a verifier run the same code, and the outputs are the same bytes on every machine. It takes and
//! returns frames, and needs neither a secret key nor I/O.

mod input;
mod job;
mod sums;

pub use input::Input;
pub use job::{Evaluated, JobError, job};
pub use sums::{LARGEST_SUMS, SumError, Summing, Window, window};
