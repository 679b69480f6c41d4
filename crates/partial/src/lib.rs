//! Partially homomorphic schemes, public half: Paillier, ElGamal, and the encodings of numbers in them.
//!
//! 64 to 1,024 bytes a ciphertext where the lattice schemes take tens of kilobytes, for programs that only add, or only
//! multiply. Secret keys are in `sotto-keys`, decryption in `sotto-decrypt`. The schemes, and what each assumes:
//! docs/concepts/partial.md.

pub mod elgamal;
pub mod encoding;
mod error;
mod key_id;
pub mod lwe;
pub mod number;
pub mod paillier;
pub mod recrypt;
pub mod ristretto;

pub use error::PartialError;
pub use key_id::KeyId;
