//! The client of a re-encryption agent in another process: a [`RemoteRecryptor`] implements
//! [`Recrypt`](sotto_partial::recrypt::Recrypt) over HTTP. It links no code that could use a secret key.

mod address;
mod error;
mod recryptor;

pub use address::Address;
pub use error::ConnectError;
pub use recryptor::RemoteRecryptor;
