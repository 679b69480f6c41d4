//! Secret keys of the partially homomorphic schemes.

pub mod elgamal;
pub mod lwe;
pub mod paillier;
mod primes;
mod recryptor;
pub mod ristretto;

pub use recryptor::RecryptorSecret;
