//! Managed arithmetic on encrypted slot vectors ([`Machine`]), and circuits on it, each written once for every scheme.
//!
//! ```
//! # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../rlwe/tests/it/owner/mod.rs")); }
//! # use owner::Owner;
//! use sotto_circuits::{Encrypted, Machine, sum_block};
//! use sotto_ring::secure_rng;
//! use sotto_rlwe::{Bfv, Evaluator, Params, Scheme};
//!
//! let params = Params::<Bfv>::default_chain(4096, 65_537)?;
//! # let owner = Owner::new(&params, 1);
//! # let plaintext = Bfv::encode_slots(&params, &[215, 198, 187, 203], params.top_level())?;
//! # let readings = owner.public_key().encrypt(&plaintext, &mut secure_rng()?)?;
//! # let keys = owner.evaluation_keys(&[1, 2]);
//! // `readings` encrypts 215, 198, 187, 203; `keys` are the owner's evaluation keys.
//! let evaluator = Evaluator::new(&params);
//! let mut machine = Encrypted::new(&evaluator, &keys);
//! let sum = sum_block(&mut machine, &readings, 4)?;
//! let doubled = machine.add(&sum, &sum)?;
//! // The owner decrypts.
//! let slots = Bfv::decode_slots(&params, &owner.decrypt(&doubled))?;
//! assert_eq!(slots[0], 2 * (215 + 198 + 187 + 203));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A machine manages levels and scales: it brings operands to one level and scaling before a sum and to the best level
//! before a product, and relinearises and rescales after it, as [`sotto_rlwe::LevelRules`] decides. [`Encrypted`]
//! computes on ciphertexts, [`Outline`] follows their shapes without computing, [`Tracking`] follows the errors of CKKS slots
//! beside either, [`Clear`] computes in the clear and defines the meaning.

mod error;
mod errors;
mod inner_product;
mod machine;
mod polynomial;
mod power_sums;
mod powers;
mod sign;
mod sums;
mod table;
mod transform;

pub use error::CircuitError;
pub use errors::{ErrorRules, Errors, Event, KeyUse};
pub use inner_product::{inner_product, inner_product_with_plain};
pub use machine::{
    Clear, Encrypted, Factor, Machine, Number, Outline, Prepared, Tally, Tracked, Tracking, Watch,
};
pub use polynomial::{Cost, Polynomial};
pub use power_sums::{Counted, PackedSums, PowerSums};
pub use powers::{exponentiate, multiply_many};
pub use sign::{Sign, SignBound};
pub use sums::{block_steps, row_steps, sum_all, sum_block, sum_row};
pub use table::{
    Chosen, DigitTable, Table, TwoDigits, choose_parameters, extremes, maximum, minimum, table_chains,
    table_chains_with,
};
pub use transform::{PreparedTransform, Transform};
