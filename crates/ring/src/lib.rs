//! Primes, residue number systems and polynomials in `R = Z[X]/(X^n + 1)`, independent of any scheme.
//!
//! ```
//! use sotto_ring::{Poly, Ring};
//!
//! // Modulo the primes 17 and 97 at n = 8: one limb each.
//! let ring = Ring::new(8, &[17, 97])?;
//! let a = Poly::from_signed(&ring, ring.all_limbs(), &[1, 2]).into_eval();
//! let b = Poly::from_signed(&ring, ring.all_limbs(), &[3, 0, 0, 0, 0, 0, 0, 1]).into_eval();
//! // (1 + 2X)·(3 + X^7) = 1 + 6X + X^7, because X^8 = -1.
//! let product = a.product(&b).into_coeff();
//! assert_eq!(product, Poly::from_signed(&ring, ring.all_limbs(), &[1, 6, 0, 0, 0, 0, 0, 1]));
//! # Ok::<(), sotto_ring::RingError>(())
//! ```
//!
//! Everything here follows docs/math/conventions.md: the type of a polynomial holds its form, the range of its limbs
//! its level, and the special primes come before the data primes.
//!
//! # Features
//!
//! - `std` (default): [`secure_rng`] from the system's randomness, huge pages on Linux, and a pool of freed polynomials
//!   for each thread. Without it the crate needs `alloc` only, and the caller brings a [`SecretRng`].
//! - `threads`: shares loops over long limbs with the rayon pool that the caller runs in; includes `std`.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod buffer;
mod convert;
mod divide;
mod galois;
mod keystream;
mod pages;
pub mod parallel;
mod poly;
pub mod primes;
mod random;
mod ring;
mod sample;
mod scratch;
mod seed;
mod weighted;

pub use buffer::release;
pub use convert::{Conversion, MOST_SOURCES, Quotients};
pub use divide::{Division, Rounding};
pub use galois::GaloisMap;
pub use poly::{Coeff, Eval, Form, Poly, polynomial_bytes};
pub use random::SecretRng;
#[cfg(feature = "std")]
pub use random::{RandomnessUnavailable, secure_rng};
pub use ring::{Ring, RingError};
pub use sample::{ERROR_VARIANCE, SmallPoly, TERNARY_VARIANCE};
pub use scratch::{Rows, Scratch};
pub use seed::{LimbStream, SEED_BYTES, Seed};
pub use sotto_kernels::{
    Complex, Embedding, Factor, InvalidModulus, Kernels, LeanTransform, Modulus, NttTable, Once, SlotMap,
    Streams, Target, Width, Wiped, all_within, largest, places, round_off, wipe, words_mut,
};
pub use weighted::weighted_sums;
