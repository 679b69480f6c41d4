//! Secret keys of the partially homomorphic schemes.

pub mod elgamal;
pub mod lwe;
pub mod paillier;
mod primes;
#[cfg(feature = "files")]
mod recryptor;
pub mod ristretto;

#[cfg(feature = "files")]
pub use recryptor::RecryptorSecret;
