//! Secret keys: one secret a device, from which the key of every scheme is derived; key generation, encryption with a
//! secret key, key files, signing identities.
//!
//! Nothing here has Debug, Clone, PartialEq or Serialize that could copy or show a secret, and everything is wiped on drop.

mod device;
mod file;
mod generate;
mod identity;
pub mod partial;
mod secret;

pub use device::DeviceSecret;
pub use file::{KeyFile, KeyFileError, Protection};
pub use identity::SigningIdentity;
pub use secret::SecretKey;
