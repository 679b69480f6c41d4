//! Decryption, noise measurement, publishing: what only the owner does.

mod decrypted;
mod decryptor;
mod measure;

pub use decrypted::{Decrypted, PublishError};
pub use decryptor::{DecryptError, Decryptor};
