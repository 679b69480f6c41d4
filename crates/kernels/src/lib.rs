//! Vector loops modulo a prime below 2^61, over plain slices.
//!
//! ```
//! use sotto_kernels::{Modulus, NttTable, Target};
//!
//! // (1 + 2X)·(3 + X^7) modulo 17 and X^8 + 1: transform, multiply entry by entry, transform back.
//! let (q, kernels) = (Modulus::new(17)?, &Target::best().kernels);
//! let table = NttTable::new(q, 8).expect("16 divides 17 - 1");
//! let mut a = [1, 2, 0, 0, 0, 0, 0, 0];
//! let mut b = [3, 0, 0, 0, 0, 0, 0, 1];
//! (kernels.ntt_forward)(&table, &mut a);
//! (kernels.ntt_forward)(&table, &mut b);
//! (kernels.multiply)(&q, &mut a, &b);
//! (kernels.ntt_inverse)(&table, &mut a);
//! // 2X·X^7 = -2: the constant is 3 - 2.
//! assert_eq!(a, [1, 6, 0, 0, 0, 0, 0, 1]);
//! # Ok::<(), sotto_kernels::InvalidModulus>(())
//! ```
//!
//! A target is a *value* ([`Target`]), tables of functions, so that a test can hold two and compare them.
//! Every target computes the same integers; only the complex transform of CKKS ([`Embedding`]) is inexact.
//!
//! # Features
//!
//! - `std` (default): asks the processor at run time which targets it can run, reads `SOTTO_KERNELS`, and reuses wiped
//!   vectors from a pool of each thread. Without it the crate needs `alloc` only: targets are those that the program is
//!   compiled for (`-C target-feature`), and floating-point functions come from `libm`, so that the tables of
//!   [`Embedding`] may differ in the last place.

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

mod conversion;
#[macro_use]
mod detect;
mod embedding;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod ifma;
#[allow(unsafe_code)]
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code, reason = "lanes"))]
mod kernels;
mod lean;
mod modulus;
mod montgomery;
mod ntt;
mod once;
#[allow(unsafe_code)]
mod prefetch;
mod slot_map;
mod streams;
mod table;
mod targets;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod vbmi;
#[allow(unsafe_code)]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, unused_imports, reason = "lanes")
)]
mod vectors;
mod wiped;
#[allow(unsafe_code)]
mod words;

pub use conversion::{FRACTION_BITS, Lift, Quotient};
#[cfg(target_arch = "x86_64")]
pub use embedding::Detected;
pub use embedding::{Complex, Embedding, Width, all_within, largest, round_off};
pub use lean::LeanTransform;
pub use modulus::{Factor, InvalidModulus, Modulus};
pub use montgomery::{Comb, LONGEST_MODULUS, Montgomery, MontgomeryKernel, Residue, UnfitModulus};
pub use ntt::NttTable;
pub use once::Once;
pub use prefetch::prefetch;
pub use slot_map::{SlotMap, places};
pub use streams::{AesLanes, Blake3Kernel, BlockLanes, ChaChaKernel, ReplaceKernel, Streams, ValueLanes};
pub use table::Kernels;
pub use targets::Target;
pub use wiped::{Wiped, Word, release, wipe};
pub use words::words_mut;
