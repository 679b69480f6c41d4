//! Secret keys: a device has one secret, from which the keys of all schemes are derived.
//!
//! ```
//! use sotto_keys::{DeviceSecret, SecretKey};
//! use sotto_rlwe::{Bfv, Params, Scheme};
//!
//! let params = Params::<Bfv>::default_chain(4096, 65537)?;
//! let mut rng = sotto_ring::secure_rng()?;
//! let boiler = DeviceSecret::generate(&mut rng);
//! let key = SecretKey::derive(&boiler, &params);
//! let temperatures = Bfv::encode_slots(&params, &[71, 72, 70], params.top_level())?;
//! let ciphertext = key.encrypt(&temperatures, &mut rng)?.expand();
//! assert_eq!(ciphertext.key(), boiler.key_id(&params.id()));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Also key generation, encryption with a secret key, key files and signing identities.
//!
//! No secret type implements Debug, Clone, PartialEq or Serialize, which could copy or show it. All secrets
//! are wiped on drop.
//!
//! # Features
//!
//! - `std` (default): the standard library in the dependencies. Without it the crate needs `alloc` only. Derived keys are the
//!   same, but for a secret whose canonical norm differs from its limit by rounding of `f64` alone.
//! - `files` (default): key files ([`KeyFile`], [`DeviceBundle`]), with Argon2id. Without it secrets come and go as bytes
//!   ([`DeviceSecret::from_bytes`]).
//! - `partial` (default): secret keys of the partially homomorphic schemes ([`partial`]).

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

#[cfg(feature = "files")]
mod bundle;
mod device;
#[cfg(feature = "files")]
mod file;
mod generate;
mod identity;
mod imported;
#[cfg(feature = "files")]
mod lengths;
#[cfg(feature = "partial")]
pub mod partial;
#[cfg(feature = "files")]
mod plant_key;
#[cfg(feature = "files")]
mod sealed;
mod secret;
mod streaming;

#[cfg(feature = "files")]
pub use bundle::{DeviceBundle, DeviceKeys};
pub use device::DeviceSecret;
#[cfg(feature = "files")]
pub use file::{KeyFile, KeyFileError, Protected, Protection, make_private};
pub use identity::SigningIdentity;
pub use imported::ImportedKeyError;
#[cfg(feature = "files")]
pub use lengths::{LONGEST_AUTHORITY, LONGEST_CLOUD, LONGEST_PROFILE, LONGEST_PUBLIC_KEYS, MOST_PUBLIC_KEYS};
#[cfg(feature = "files")]
pub use plant_key::{PlantKey, PlantKeyName};
pub use secret::SecretKey;
pub use streaming::{StreamingEncryptor, StreamingError};
