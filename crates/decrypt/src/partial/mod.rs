//! Decryption of the partially homomorphic schemes.

pub mod elgamal;
pub mod lwe;
pub mod paillier;
pub mod recryptor;
pub mod ristretto;
