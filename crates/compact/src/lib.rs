//! Compact BFV ciphertexts: for a window of r readings, only the r coefficients that carry readings, rounded
//! to a few bits.
//!
//! [docs/concepts/compact.md](../../../docs/concepts/compact.md) explains the format and its security,
//! docs/math/conventions.md defines the bytes.
//!
//! `sotto-device` is the device's half; this crate is the part that cloud and owner share. [`Profile`] checks
//! a form against parameters and bounds the error of sums. [`Sum`] adds bodies, without a key or a mask.
//! [`MaskSum`] adds the masks. The owner decrypts from both sums (`sotto_decrypt::open_compact`).
//!
//! # Features
//!
//! - `std` (default): the standard library in the dependencies. Without it the crate needs `alloc` only, with the same
//!   interface.

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

mod mask;
mod profile;
mod sum;

pub use mask::{MaskSum, StreamMasks, fleet_id, fleet_mask_key, mask_key};
pub use profile::{CompactError, Profile};
pub use sotto_device::{Form, FormError, Mask, MaskKey};
pub use sum::{Sum, Weights, largest};
