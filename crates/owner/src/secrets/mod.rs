//! The secrets of a plant's folder: in the clear, or sealed under the plant's key, which a passphrase opens.

mod backed_up;
mod clear;
mod error;
mod files;
mod keyring;
mod owner_key;
mod seal;
mod unlock;

pub use error::SecretsError;
pub(crate) use files::{CLEAR, KEY, SECRETS, SIGNING, Secrets, TOKEN};
pub use unlock::Unlock;
