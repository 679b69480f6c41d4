//! Secret keys: one secret a device, from which the key of every scheme is derived; key generation, encryption with a
//! secret key, key files, signing identities.
//!
//! Nothing here has Debug, Clone, PartialEq or Serialize that could copy or show a secret, and everything is wiped on drop.

mod bundle;
mod compact;
mod device;
mod file;
mod generate;
mod identity;
mod imported;
pub mod partial;
mod secret;
mod streaming;

pub use bundle::{DeviceBundle, LONGEST_AUTHORITY, LONGEST_CLOUD, LONGEST_PROFILE};
pub use compact::{CompactEncryptor, SecretSum, mask_product, secret_bits};
pub use device::DeviceSecret;
pub use file::{KeyFile, KeyFileError, Protection};
pub use identity::SigningIdentity;
pub use imported::ImportedKeyError;
pub use secret::SecretKey;
pub use streaming::{StreamingEncryptor, StreamingError};
