//! Compute on numbers that the computer doing the work cannot read.
//!
//! ```
//! use sotto::{Ckks, Context};
//!
//! // Three temperatures, and products up to three deep; the context chooses the moduli.
//! let context = Context::<Ckks>::for_depth(3)?;
//! let (secret, _public) = context.keys(&mut sotto::secure_rng()?)?;
//! let x = secret.encrypt(&[20.5, 21.0, 18.5])?;
//! let y = ((&x * &x)? + 1.5)?;
//! let sum = secret.decrypt(&y.sum()?)?;
//! assert!((sum.value() - 1208.0).abs() <= sum.bound());
//! println!("{sum}"); // 1208.0000 ± 0.0094
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
//! | module | content |
//! | --- | --- |
//! | [`circuits`] | `Machine`: managed arithmetic; polynomials, matrices, powers, the sign |
//! | [`rlwe`] | parameters, ciphertexts, evaluator, noise |
//! | [`keys`], [`decrypt`] | secret keys, key files; decryption, rounding, flooding |
//! | [`program`], [`runtime`] | computations as data: parsed, planned, run by threads |
//! | [`wire`] | bytes of all public objects |
//! | [`ring`], [`kernels`] | polynomials; vector loops for AVX2, AVX-512, NEON |
//! | `partial`, `emulate` | Paillier, ElGamal (feature `partial`) |
//! | `seal` | Microsoft SEAL's files (feature `seal`) |
//!
//! # Features
//!
//! `threads` (default): long polynomials share the caller's rayon pool. `partial`: the partially homomorphic schemes.
//! `seal`: SEAL's files. This crate needs the standard library; of the layers below, kernels, ring, rlwe, keys, wire and
//! program build with `alloc` only.
//!
//! # Not protected
//!
//! Nothing here proves that a cloud did the requested computation; a key that is stolen reads everything; nobody has audited the
//! code for timing. `SECURITY.md` has the whole list.

mod answer;
mod builder;
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
pub use flags::{Flag, FlagPlan, Flags};
pub use plan::Plan;
pub use public::Public;
pub use scheme::{Arithmetic, Exact, Opened, Real};
pub use secret::Secret;
pub use sotto_circuits::{SignBound, Table};
pub use sotto_keys::DeviceSecret;
pub use sotto_ring::{RandomnessUnavailable, SecretRng, secure_rng};
pub use sotto_rlwe::{Bfv, Bgv, Ckks, KeyId};
pub use watch::{Progress, watched, watched_every};

#[doc(inline)]
pub use sotto_circuits as circuits;
#[doc(inline)]
pub use sotto_decrypt as decrypt;
#[cfg(feature = "partial")]
#[doc(inline)]
pub use sotto_emulate as emulate;
#[doc(inline)]
pub use sotto_kernels as kernels;
#[doc(inline)]
pub use sotto_keys as keys;
#[cfg(feature = "partial")]
#[doc(inline)]
pub use sotto_partial as partial;
#[doc(inline)]
pub use sotto_program as program;
#[doc(inline)]
pub use sotto_ring as ring;
#[doc(inline)]
pub use sotto_rlwe as rlwe;
#[doc(inline)]
pub use sotto_runtime as runtime;
#[cfg(feature = "seal")]
#[doc(inline)]
pub use sotto_seal as seal;
#[doc(inline)]
pub use sotto_wire as wire;

/// The guide's blocks, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/rust.md")]
pub struct Guide;
