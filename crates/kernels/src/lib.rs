//! Vector loops modulo a prime below 2^61, over plain slices.
//!
//! A target is a *value*, a table of functions ([`Kernels`]), so that a test can hold two and compare them.
//! Every target computes the same integers; only the complex transform of CKKS ([`Embedding`]) is inexact.

mod embedding;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod ifma;
mod modulus;
mod montgomery;
mod ntt;
mod scalar;
mod table;

pub use embedding::{Complex, Embedding};
pub use modulus::{Factor, InvalidModulus, Modulus};
pub use montgomery::{Comb, LONGEST_MODULUS, Montgomery, MontgomeryKernel, Residue, UnfitModulus};
pub use ntt::NttTable;
pub use table::{ConvertKernel, Kernels};
