//! Paillier's scheme (EUROCRYPT '99) with g = n + 1: sums of ciphertexts, products with plain numbers.
//!
//! E(m) = (1 + m·n)·ρ modulo n², the mask ρ an n-th power. Which n-th powers are drawn is the key's [`Randomness`].
//! Security rests on composite residuosity; what the shorter exponents assume on top is in docs/concepts/partial.md.

mod ciphertext;
mod key;
mod mask;
mod operations;
mod packing;

pub use ciphertext::Ciphertext;
pub use key::{Plaintext, PublicKey, Randomness, security_bits, subgroup_bits};
pub use mask::{Mask, Reserve};
pub use packing::Packing;
