//! Secret keys: a device has one secret, from which the keys of all schemes are derived. Also key generation,
//! encryption with a secret key, key files and signing identities.
//!
//! No secret type implements Debug, Clone, PartialEq or Serialize, which could copy or show it. All secrets
//! are wiped on drop.
//!
//! # Features
//!
//! - `std` (default): key files ([`KeyFile`], [`DeviceBundle`]), with Argon2id. Without it the crate needs `alloc` only;
//!   secrets come and go as bytes ([`DeviceSecret::from_bytes`]). Derived keys are the same, but for a secret whose
//!   canonical norm differs from its limit by rounding of `f64` alone.
//! - `partial` (default): secret keys of the partially homomorphic schemes ([`partial`]).

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

#[cfg(feature = "std")]
mod bundle;
mod compact;
mod device;
#[cfg(feature = "std")]
mod file;
mod generate;
mod identity;
mod imported;
#[cfg(feature = "partial")]
pub mod partial;
mod secret;
mod streaming;

#[cfg(feature = "std")]
pub use bundle::{DeviceBundle, LONGEST_AUTHORITY, LONGEST_CLOUD, LONGEST_PROFILE};
pub use compact::{CompactEncryptor, SecretSum, mask_product, secret_bits};
pub use device::DeviceSecret;
#[cfg(feature = "std")]
pub use file::{KeyFile, KeyFileError, Protection};
pub use identity::SigningIdentity;
pub use imported::ImportedKeyError;
pub use secret::SecretKey;
pub use streaming::{StreamingEncryptor, StreamingError};
