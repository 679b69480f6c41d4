//! Holds the crates to `spec/` and to one another: one suite generic in the scheme, and known answers.

mod fixture;
pub mod vectors;

pub use fixture::{Fixture, Testable};
