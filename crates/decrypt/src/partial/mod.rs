//! Decryption of the partially homomorphic schemes.

pub mod paillier;
