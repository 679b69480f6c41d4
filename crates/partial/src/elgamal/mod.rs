//! ElGamal's scheme (CRYPTO '84), multiplicative: products, quotients and powers of ciphertexts.
//!
//! E(m) = (g^k, m·h^k) in the squares modulo a safe prime. Secret exponents are short (RFC 7919, section
//! 5.2), which assumes that short logarithms are hard too; see docs/concepts/partial.md.

mod group;
mod primes;
mod scheme;

pub use group::{Group, GroupName};
pub use scheme::{Ciphertext, PublicKey};
