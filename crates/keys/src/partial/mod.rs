//! Secret keys of the partially homomorphic schemes.

pub mod paillier;
mod primes;
