//! The re-encryption agent when it is another process: a [`RemoteRecryptor`] is an [`Recrypt`](sotto_partial::recrypt::Recrypt) at an
//! address. It links no code that could use a secret key.

mod error;
mod http;
mod recryptor;

pub use error::ConnectError;
pub use http::Address;
pub use recryptor::RemoteRecryptor;
