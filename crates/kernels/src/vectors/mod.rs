//! Kernels written once over [`Lanes`], for AVX2, AVX-512 without 52-bit multiplication, and NEON.
//!
//! Primes below 2^50 use floating point, whose fused multiplication gives both halves of a product. Larger primes use
//! words and 32-bit halves, where that is faster. Kernels are inlined into the table's entries; only these are compiled
//! for a processor, and the table is returned only after a check of the processor (`detected`). Ranges:
//! docs/math/kernels.md#written-once.

mod arithmetic;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod arx;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod by_prime;
pub(crate) mod conversions;
mod float;
mod lanes;
mod lines;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod ntt;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod streams;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod targets;
mod whole;

pub(crate) use arithmetic::{LaneArithmetic, LineOf, Pair};
pub(crate) use by_prime::{EXACT, FLOAT, LAZY, by_prime, transform_by_prime};
pub(crate) use float::{Float, ROUND};
pub(crate) use lanes::Lanes;
pub(crate) use lines::lines;
pub(crate) use ntt::Prepared;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use streams::available as available_streams;
#[cfg(target_arch = "x86_64")]
pub(crate) use streams::sixteen;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use targets::available;
#[cfg(target_arch = "x86_64")]
pub(crate) use targets::dq;
pub(crate) use whole::Whole;
