//! The client of a re-encryption agent in another process: a [`RemoteRecryptor`] implements
//! [`Recrypt`](sotto_partial::recrypt::Recrypt) over HTTP. It links no code that could use a secret key.

mod error;
mod http;
mod recryptor;

pub use error::ConnectError;
pub use http::Address;
pub use recryptor::RemoteRecryptor;
