//! Secret keys of the partially homomorphic schemes.

pub mod elgamal;
pub mod lwe;
pub mod paillier;
mod primes;
pub mod ristretto;
