//! Secret keys of the partially homomorphic schemes.

pub mod elgamal;
pub mod lwe;
pub mod paillier;
mod primes;
#[cfg(feature = "std")]
mod recryptor;
pub mod ristretto;

#[cfg(feature = "std")]
pub use recryptor::RecryptorSecret;
