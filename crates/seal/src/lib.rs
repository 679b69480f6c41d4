//! Reads and writes Microsoft SEAL's files: parameters, plaintexts, ciphertexts, public keys, evaluation
//! keys, and secret keys (unprotected).
//!
//! ```
//! use sotto_decrypt::Decryptor;
//! use sotto_keys::{DeviceSecret, SecretKey};
//! use sotto_rlwe::{Bfv, Origin, Params, Scheme};
//! use sotto_seal::{Chain, Claim, Writing, read_ciphertext, write_ciphertext};
//!
//! let params = Params::<Bfv>::default_chain(4096, 65537)?;
//! let mut rng = sotto_ring::secure_rng()?;
//! let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
//! let temperatures = Bfv::encode_slots(&params, &[71, -4], params.top_level())?;
//! let ciphertext = key.encrypt(&temperatures, &mut rng)?.expand();
//!
//! let chain = Chain::new(&params)?;
//! let file = write_ciphertext(&ciphertext, &chain, Writing::default())?; // seal::Ciphertext::load reads it
//! let claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 100.0 };
//! let read = read_ciphertext(&file, &chain, key.id(), claim)?;
//! assert_eq!(Decryptor::new(&key).slots(&read)?.into_exact(100.0)?[..2], [71, -4]);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! The schemes are BFV, CKKS and BGV; files are without compression, with zlib or with Zstandard.
//!
//! Reads versions 3.6 to 4.x, those later than 4.4 by the layout of 4.4: an object that does not have it is
//! refused as [`SealError::Later`]. Bytes of TenSEAL's `serialize()` are recognised and refused, with the
//! Python that saves SEAL's files; CKKS parameters with a plain modulus are refused, as SEAL refuses them.
//!
//! The parameters bound every length before bytes are allocated or inflated; every word must be below its
//! prime, and every `parms_id` must name a level of the chain. SEAL's files have no checksum, so a changed file
//! may be another valid object.
//!
//! Writes version 3.6, or 4.1 and later for BGV ciphertexts. Objects are written out, since SEAL cannot
//! expand our seeds. docs/guides/from-tenseal.md is a step-by-step guide.
//!
//! [`Convention`] maps between SEAL's conventions and ours by scheme (form, scale, correction factor),
//! [`Chain`] maps the order of primes and the levels. All else is as in docs/math/conventions.md.
//!
//! Compression is here and not in `wire`, because no other crate needs it: so a device's programs link
//! neither zlib nor Zstandard.

mod chain;
mod ciphertext;
mod compression;
mod convention;
mod description;
mod error;
mod header;
mod inflate;
mod inspect;
mod keys;
mod parameters;
mod plaintext;
mod randomness;
mod reader;
mod tenseal;
mod tenseal_object;
mod version;
mod words;

pub use chain::Chain;
pub use ciphertext::{Claim, fresh_shape, read_ciphertext, write_ciphertext};
pub use compression::Compression;
pub use convention::Convention;
pub use description::{Description, Kind};
pub use error::SealError;
pub use header::{Header, Writing};
pub use inspect::inspect;
pub use keys::{
    read_galois_keys, read_public_key, read_relinearisation_key, read_unprotected_secret_key,
    write_galois_keys, write_public_key, write_relinearisation_key, write_unprotected_secret_key,
};
pub use parameters::{ParmsId, SealParameters};
pub use plaintext::{read_plaintext, write_plaintext};
pub use randomness::{Generator, SEED_BYTES, Stream, uniform_words};
pub use tenseal_object::TensealObject;
pub use version::Version;

/// Checks that the guide's Rust code compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/from-tenseal.md")]
struct Guide;
