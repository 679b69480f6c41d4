//! Paillier's scheme (EUROCRYPT '99) with g = n + 1: sums of ciphertexts, products with plain numbers.
//!
//! E(m) = (1 + m·n)·ρ modulo n², where the mask ρ is an n-th power. The key's [`Randomness`] defines how n-th
//! powers are drawn. Security rests on composite residuosity; docs/concepts/partial.md lists the further
//! assumptions of shorter exponents.

mod ciphertext;
mod key;
mod mask;
mod operations;
mod packing;

pub use ciphertext::Ciphertext;
pub use key::{Plaintext, PublicKey, Randomness, security_bits, subgroup_bits};
pub use mask::{Mask, Reserve};
pub use packing::Packing;
