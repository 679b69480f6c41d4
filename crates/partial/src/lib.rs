//! Partially homomorphic schemes, public half: Paillier, ElGamal, LWE, and the encodings of numbers in them.
//!
//! ```
//! use chacha20::ChaCha20Rng;
//! use rand_core::SeedableRng;
//! use sotto_partial::paillier::{PublicKey, Randomness};
//!
//! # let n = sotto_partial::elgamal::Group::new(sotto_partial::elgamal::GroupName::Ffdhe2048)?.prime().clone();
//! let key = PublicKey::new(&n, Randomness::Textbook)?; // n comes from the owner, 2,048 bits
//! let mut rng = ChaCha20Rng::from_seed([7; 32]); // in a program: seeded by the operating system
//! let mut encrypted = |watts| key.encrypt(&key.signed(watts), &mut rng);
//! let (pump, fan) = (encrypted(1250)?, encrypted(300)?);
//! let total = key.add(&pump, &fan)?;
//! assert_eq!(key.write(&total).len(), 512);
//! assert_eq!(key.number(&key.subtract(&total, &fan)?), key.number(&pump));
//! # Ok::<(), sotto_partial::PartialError>(())
//! ```
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
