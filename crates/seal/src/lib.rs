//! Microsoft SEAL's files, both ways: parameters, plaintexts, ciphertexts, public and evaluation keys, and secret keys, which
//! leave unprotected. BFV, CKKS and BGV; without compression, with zlib, with Zstandard.
//!
//! Read: versions 3.6 to 4.x. Every length is bounded by the parameters before anything is allocated or inflated, every word
//! is below its prime, and a `parms_id` names a level of the chain. SEAL's files carry no check of their own: a changed one
//! may be another valid object. Written: version 3.6, or 4.1 and later for BGV ciphertexts; always written out, since our seeds mean nothing to SEAL. docs/guides/from-tenseal.md shows the way from a program to here.
//!
//! What differs between SEAL's conventions and ours is in [`Convention`] (form, scale, correction factor, by scheme) and in
//! [`Chain`] (order of the primes, levels); all else is as in docs/math/conventions.md.
//!
//! No other crate needs compression, so that this one, and not `wire`, has it: what a device runs links neither zlib nor
//! Zstandard.

mod chain;
mod ciphertext;
mod convention;
mod error;
mod header;
mod inflate;
mod inspect;
mod keys;
mod parameters;
mod plaintext;
mod randomness;
mod reader;
mod words;

pub use chain::Chain;
pub use ciphertext::{Claim, fresh_shape, read_ciphertext, write_ciphertext};
pub use convention::Convention;
pub use error::SealError;
pub use header::{Compression, Header, Version, Writing};
pub use inspect::{Description, Kind, inspect};
pub use keys::{
    read_galois_keys, read_public_key, read_relinearisation_key, read_unprotected_secret_key,
    write_galois_keys, write_public_key, write_relinearisation_key, write_unprotected_secret_key,
};
pub use parameters::{ParmsId, SealParameters};
pub use plaintext::{read_plaintext, write_plaintext};
pub use randomness::{Generator, SEED_BYTES, Stream, uniform_words};

/// The Rust of the guide compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/from-tenseal.md")]
struct Guide;
