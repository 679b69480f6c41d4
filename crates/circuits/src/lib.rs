//! Managed arithmetic on encrypted slot vectors ([`Machine`]), and circuits on it, each written once for every scheme.
//!
//! A machine manages levels and scales: it brings operands to one level and scaling before a sum and to the best level
//! before a product, and relinearises and rescales after it, as [`sotto_rlwe::LevelRules`] decides. [`Encrypted`]
//! computes on ciphertexts, [`Outline`] follows their shapes without computing, [`Clear`] computes in the clear and
//! defines the meaning.

mod error;
mod inner_product;
mod machine;
mod polynomial;
mod powers;
mod sums;
mod transform;

pub use error::CircuitError;
pub use inner_product::{inner_product, inner_product_with_plain};
pub use machine::{Clear, Encrypted, Machine, Number, Outline, Prepared, Tally};
pub use polynomial::{Cost, Polynomial};
pub use powers::{exponentiate, multiply_many};
pub use sums::{block_steps, row_steps, sum_all, sum_block, sum_row};
pub use transform::{PreparedTransform, Transform};
