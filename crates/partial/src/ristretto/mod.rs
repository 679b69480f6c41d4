//! ElGamal on Ristretto with the message in the exponent: sums, in 64 bytes a ciphertext.
//!
//! E(m) = (k·B, k·H + m·B) (Cramer, Gennaro and Schoenmakers, EUROCRYPT '97; the group: RFC 9496). Decryption
//! searches for m.

mod scheme;
mod search;

pub use scheme::{Ciphertext, LARGEST_BITS, PublicKey};
pub use search::BabySteps;
