//! The re-encryption agent when it is another process: a [`Recryptor`] is an [`Agent`](sotto_partial::agent::Agent) at an
//! address. It links no code that could use a secret key.

mod error;
mod http;
mod recryptor;

pub use error::ConnectError;
pub use http::Address;
pub use recryptor::Recryptor;
