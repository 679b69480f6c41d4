//! Compares the crates with `spec/` and with one another: one suite generic in the machine, and known answers.

mod cases;
mod chains;
mod fixture;
pub mod golden;
mod subject;
pub mod vectors;

pub use cases::{Case, Public};
pub use chains::with_digits;
pub use fixture::{Fixture, Testable};
pub use subject::{DoNothing, Subject, hold};
