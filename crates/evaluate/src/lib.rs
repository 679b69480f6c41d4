//! The cloud's work on the ciphertexts of stored messages: jobs by a plan, and sums of compact windows.
//!
//! The cloud does it and a verifier repeats it with the same code; the outputs are the same bytes on every machine. No secret key, no
//! I/O: frames go in and come out.

mod input;
mod job;
mod sums;

pub use input::Input;
pub use job::{Evaluated, JobError, job};
pub use sums::{LARGEST_SUMS, SumError, Summing, Window, window};
