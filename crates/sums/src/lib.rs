//! Sums of windows of readings without a lattice.
//!
//! A device adds a pad of ChaCha20 to each reading; the cloud adds windows, without a key; the owner, who has the device's
//! secret, takes the sum of the pads away. A tag adds up with the windows: an opened sum is right, or refused.
//!
//! ```text
//! body[p] = value[p] + K[p]                        mod 2^w
//! tag     = Σ k[p]·value[p] + Σ k′[c]·count[c] + F   mod 2^61 − 1
//! ```
//!
//! [docs/concepts/authentication.md](../../../docs/concepts/authentication.md) has the argument and the bytes, `spec/sums.py`
//! the same in plain Python.
//!
//! - The device: [`Encryptor`] and [`WholeHead`], without allocation and without the standard library.
//! - The cloud: [`Part`] and [`Sum`], without a key.
//! - The owner: [`Opening`], [`TagKey`] and [`Answer`]; [`FleetOpening`] for a window of each of many devices.
//!
//! # Features
//!
//! - `std` (default): run-time detection of vector units in BLAKE3. Implies `alloc`.
//! - `alloc`: all but the device's half.

#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
#[macro_use]
extern crate alloc;

#[cfg(feature = "alloc")]
mod answer;
mod bits;
#[cfg(feature = "alloc")]
mod deriver;
#[cfg(feature = "alloc")]
mod device_window;
mod encrypt;
mod encrypt_error;
mod field;
#[cfg(feature = "alloc")]
mod fleet;
#[cfg(feature = "alloc")]
mod fleet_sum;
mod form;
mod head;
mod key;
#[cfg(feature = "alloc")]
mod lanes;
#[cfg(feature = "alloc")]
mod open;
#[cfg(feature = "alloc")]
mod rows;
#[cfg(feature = "alloc")]
mod sum;
mod tag;
#[cfg(feature = "alloc")]
mod tag_key;
mod words;

#[cfg(feature = "alloc")]
pub use answer::Answer;
#[cfg(feature = "alloc")]
pub use device_window::DeviceWindow;
pub use encrypt::{Encryptor, Window};
pub use encrypt_error::EncryptError;
pub use field::PRIME;
#[cfg(feature = "alloc")]
pub use fleet::FleetOpening;
#[cfg(feature = "alloc")]
pub use fleet_sum::FleetSum;
pub use form::{Form, FormError, MOST_PLACES, MOST_WEIGHT, MOST_WIDTH, Place};
pub use head::{WHOLE_HEAD_BYTES, WholeHead};
pub use key::{KEY_ID_BYTES, SALT_BYTES, SECRET_BYTES, StartKeys, StreamKeys};
#[cfg(feature = "alloc")]
pub use open::{OpenError, Opening};
#[cfg(feature = "alloc")]
pub use sum::{Apart, Sum, SumError};
pub use tag::{Part, PartError, TAG_BYTES, Tag};
#[cfg(feature = "alloc")]
pub use tag_key::TagKey;
