//! Signed and fractional numbers in schemes that hold natural ones: docs/concepts/partial.md.
//!
//! A declared [`Format`] says what the numbers are in the clear; results are held to it after decryption, so that over- and
//! underflow are where plaintext arithmetic would have them.

mod complement;
mod format;
mod fraction;

pub use complement::Complement;
pub use format::{Format, wrap};
pub use fraction::{Fraction, Ratio, Scaled};
