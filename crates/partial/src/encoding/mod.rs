//! Signed and fractional numbers in schemes for natural numbers: docs/concepts/partial.md.
//!
//! A declared [`Format`] defines the numbers in the clear. Decrypted results are checked against it, so that
//! over- and underflow occur exactly where plaintext arithmetic has them.

mod complement;
mod format;
mod fraction;

pub use complement::Complement;
pub use format::{Format, wrap};
pub use fraction::{Fraction, Ratio, Scaled};
