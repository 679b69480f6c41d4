//! BGV, BFV and CKKS over residue number systems: parameters, plaintexts, ciphertexts, public-key encryption,
//! evaluation keys and the evaluator. This crate holds no secret keys.
//!
//! ```
//! # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
//! # use owner::Owner;
//! use sotto_ring::secure_rng;
//! use sotto_rlwe::{Bfv, Evaluator, Params, Scheme};
//!
//! // Temperatures in tenths of a degree, as integers modulo 65537.
//! let params = Params::<Bfv>::default_chain(4096, 65_537)?;
//! # let owner = Owner::new(&params, 1);
//! # let public_key = owner.public_key();
//! let top = params.top_level();
//! let mut rng = secure_rng()?;
//! // Two devices encrypt under the owner's public key.
//! let boiler = public_key.encrypt(&Bfv::encode_slots(&params, &[215, 198], top)?, &mut rng)?;
//! let pump = public_key.encrypt(&Bfv::encode_slots(&params, &[187, 203], top)?, &mut rng)?;
//! // The cloud adds without a key.
//! let sum = Evaluator::new(&params).add(&boiler, &pump)?;
//! // The owner decrypts.
//! let sums = Bfv::decode_slots(&params, &owner.decrypt(&sum))?;
//! assert_eq!(sums[..2], [402, 401]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The differences between the schemes are in [`Scheme`] and its noise rules ([`NoiseRules`]); all other code is
//! written once. Conventions: docs/math/conventions.md.
//!
//! # Features
//!
//! - `std` (default): the standard library in the dependencies. Without it the crate needs `alloc` only, with the same
//!   interface; floating-point functions
//!   come from `libm`, so that noise bounds and CKKS encodings may differ in the last places.

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

mod any;
mod automorphism;
mod ciphertext;
mod compact;
mod error;
mod evaluation_key;
mod evaluator;
mod expected;
mod injection;
mod kept;
mod key_switch;
mod lean;
mod level_rules;
mod noise;
mod parameters;
mod plaintext;
mod prepared;
mod public_key;
mod reduced;
mod reduction;
mod repeated;
mod scheme;
mod schemes;
mod shape;
mod slot_value;

pub use any::OfAnyScheme;
pub use automorphism::Automorphism;
pub use ciphertext::{Ciphertext, Seeded};
pub use compact::Compact;
pub use error::{EncodeError, EvalError, ParameterError};
pub use evaluation_key::{EvaluationKeys, GaloisKeys, KeySwitchKey, SeededKey};
pub use evaluator::{Counters, Evaluator, Hoisted, Operation};
pub use expected::{Expected, Unexpected};
pub use injection::Injection;
pub use kept::Kept;
pub use lean::{LeanEncoding, LeanInjection, SlotValues};
pub use level_rules::{Adjustment, LevelRules};
pub use noise::{Figure, Log2, Noise, NoiseRules, Norms, NormsOf, Origin, PlainSize, Typical};
pub use parameters::{
    ChainBits, ChainRequest, DefaultChain, Digits, DoubleDouble, KeyId, ParameterId, ParameterSpec, Params,
    ScaleRatio, SchemeId, Security, SecurityLevel, SecurityProfile, SecurityTarget, XOF_AES128_CTR,
    largest_modulus_bits,
};
pub use plaintext::Plaintext;
pub use prepared::{Addend, Multiplier};
pub use public_key::PublicKey;
pub use reduced::Reduced;
pub use reduction::{REDUCED_WIDTHS, Reduction, Selection};
pub use scheme::{Lowering, Scheme};
pub use schemes::{Bfv, Bgv, Ckks, ScalePower};
pub use shape::Shape;
pub use slot_value::{SlotValue, small_integer};

/// The single steps of key switching, for tests with known answers. Use the [`Evaluator`] to compute: these functions
/// check no shape and track no noise.
#[doc(hidden)]
pub mod intermediates {
    pub use crate::key_switch::{Sums, accumulate, decompose, switch};
}
