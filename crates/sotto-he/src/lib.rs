//! Compute on numbers that the computer doing the work cannot read.
//!
//! ```
//! use sotto::{Ckks, Context};
//!
//! // Three temperatures, and products up to two deep; the context chooses the moduli.
//! let context = Context::<Ckks>::for_depth(2)?;
//! let (secret, _public) = context.keys(&mut sotto::secure_rng()?)?;
//! let x = secret.encrypt(&[20.5, 21.0, 18.5])?;
//! let y = ((&x * &x)? + 1.5)?;
//! let sum = secret.decrypt(&y.sum()?)?;
//! assert!((sum.value() - 1208.0).abs() <= sum.bound());
//! println!("{sum}"); // 1208.00000 ± 0.00028
//! # Ok::<(), sotto::Error>(())
//! ```
//!
//! A [`Context`] chooses parameters. A [`Secret`] encrypts and decrypts. A [`Public`] holds the keys that a computing
//! party needs. Operators compute on [`Encrypted`] vectors. A [`Plan`] predicts the cost of a computation and the error
//! bound of its [`Answer`].
//!
//! **Unaudited.** Nobody outside the project has reviewed this code.
//!
//! # Which scheme
//!
//! | scheme | values | result |
//! | --- | --- | --- |
//! | [`Ckks`] | `f64` | within a bound that the answer carries |
//! | [`Bfv`], [`Bgv`] | `i64` | exact, within a bound on results that is declared ([`ContextBuilder::results_within`]) |
//!
//! BFV and BGV give the same answers. BFV needs no care for levels; BGV multiplies faster.
//!
//! # Three parties
//!
//! The device or owner holds the [`Secret`]. The cloud gets [`Public::to_bytes`] once, vectors as bytes, and returns bytes.
//! An answer from elsewhere is decrypted with [`Secret::decrypt_answer`], which compares its claims with the [`Plan`]: a
//! dry run of the same function. See the example at [`Public`].
//!
//! # Lengths and padding
//!
//! A vector keeps its length, and slots behind its values never count: `(x + 1.5).sum()` adds 1.5 as often as there are
//! values. [`Encrypted::sum`], [`Encrypted::mean`] and [`Encrypted::dot`] give one value that goes with vectors of every
//! length.
//!
//! # Bounds
//!
//! Inputs are declared to be within ±1000 ([`ContextBuilder::values_within`] changes that); everybody sees the declared
//! bound. From it follow the bound on every error and the refusal of values that no honest computation gives.
//!
//! # Layers below
//!
//! This crate re-exports the types that its own functions take, return and refuse with. A program that works with
//! ciphertexts themselves depends on the layers: [`Context::params`], [`Encrypted::ciphertexts`] and
//! [`Public::evaluation_keys`] lead there.
//!
//! | crate | content |
//! | --- | --- |
//! | `sotto-circuits` | `Machine`: managed arithmetic; polynomials, matrices, powers, the sign |
//! | `sotto-rlwe` | parameters, ciphertexts, evaluator, noise |
//! | `sotto-keys`, `sotto-decrypt` | secret keys, key files; decryption, rounding, flooding |
//! | `sotto-program`, `sotto-runtime` | computations as data: parsed, planned, run by threads |
//! | `sotto-wire` | bytes of all public objects |
//! | `sotto-ring`, `sotto-kernels` | polynomials; vector loops for AVX2, AVX-512, NEON |
//! | `sotto-partial`, `sotto-emulate` | Paillier, ElGamal |
//! | `sotto-seal` | Microsoft SEAL's files |
//!
//! # Features
//!
//! `threads` (default): long polynomials share the caller's rayon pool. `key-files` (default): `KeyFile` and its passphrase
//! (Argon2id). No feature of this crate links Paillier or time zones. The crate needs the standard library; of the layers
//! below, kernels, ring, rlwe, keys, wire and program build with `alloc` only.
//!
//! # Speed
//!
//! Build with `--release`: without optimisation a program takes some thirty times as long. A debug build that is fast where
//! it matters has this in its `Cargo.toml`:
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 3
//! ```
//!
//! # Not protected
//!
//! Nothing here proves that a cloud did the requested computation; a key that is stolen reads everything; nobody has audited the
//! code for timing. `SECURITY.md` has the whole list.

mod answer;
mod builder;
mod chains;
mod context;
mod encode;
mod encrypted;
mod error;
mod exchange;
mod flags;
mod key_pair;
mod plan;
mod public;
mod scheme;
mod secret;
mod watch;

pub use answer::Answer;
pub use builder::ContextBuilder;
pub use context::Context;
pub use encrypted::{Encrypted, Histogram, HistogramPlan};
pub use error::{Error, Result};
#[doc(hidden)]
pub use error::{rounded_up, shown};
pub use flags::{Flag, FlagPlan, Flags};
pub use plan::Plan;
pub use public::Public;
pub use scheme::{Arithmetic, Exact, Opened, Real};
pub use secret::Secret;
pub use sotto_circuits::{CircuitError, Sign, SignBound, Table};
pub use sotto_decrypt::{DecryptError, PublishError, RangeError};
pub use sotto_keys::DeviceSecret;
#[cfg(feature = "key-files")]
pub use sotto_keys::{KeyFile, KeyFileError, Protected, Protection, make_private};
pub use sotto_ring::{RandomnessUnavailable, SecretRng, secure_rng};
pub use sotto_rlwe::{
    Bfv, Bgv, ChainRequest, Ciphertext, Ckks, DefaultChain, EncodeError, EvalError, EvaluationKeys, KeyId,
    ParameterError, ParameterId, ParameterSpec, Params, PublicKey, Scheme, SchemeId, SecurityLevel, Shape,
    Unexpected,
};
pub use sotto_wire::{LARGEST_BUNDLE, WireError};
pub use watch::{Progress, watched, watched_every};

/// The guide's blocks, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/rust.md")]
pub struct Guide;
