//! The three schemes.

mod bfv;
mod bgv;
mod ckks;
mod embedding;
mod integer;

pub use bfv::Bfv;
pub(crate) use bfv::rests as bfv_rests;
pub use bgv::Bgv;
pub use ckks::{Ckks, ScalePower};
pub(crate) use embedding::limit_of;
pub(crate) use integer::places as slot_places;
