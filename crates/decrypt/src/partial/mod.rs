//! Decryption of the partially homomorphic schemes.

pub mod agent;
pub mod elgamal;
pub mod lwe;
pub mod paillier;
pub mod ristretto;
