//! Partially homomorphic schemes, public half: Paillier, ElGamal, LWE, and the encodings of numbers in them.
//!
//! For programs that only add or only multiply: 64 to 1,024 bytes a ciphertext (Paillier and ElGamal), where
//! the lattice schemes take tens of kilobytes. Secret keys are in `sotto-keys`, decryption in
//! `sotto-decrypt`. See docs/concepts/partial.md for the schemes and their assumptions.
//!
//! # Features
//!
//! - `std` (default): the standard library in the dependencies. Without it the crate needs `alloc` only, with the same
//!   interface.

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

pub mod elgamal;
pub mod encoding;
mod error;
mod key_id;
pub mod lwe;
pub mod number;
pub mod paillier;
pub mod recrypt;
pub mod ristretto;

pub use error::PartialError;
pub use key_id::KeyId;
