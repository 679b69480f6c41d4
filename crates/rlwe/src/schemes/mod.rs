//! The three schemes.

mod bfv;
mod bgv;
mod ckks;
mod embedding;
mod integer;

pub use bfv::Bfv;
pub use bgv::Bgv;
pub use ckks::{Ckks, ScalePower};
pub(crate) use embedding::round;
