//! Programs with both sums and products over the partially homomorphic schemes, with a re-encryption agent
//! ("recryptor").
//!
//! ```
//! use sotto_decrypt::partial::{paillier::Decryptor, recryptor::LocalRecryptor};
//! use sotto_emulate::{Emulation, Products, PublicKeys, Schedule, run};
//! use sotto_keys::partial::paillier::{Masking, SecretKey};
//! use sotto_program::{ParseOptions, parse};
//!
//! let inputs = ParseOptions { undeclared: Some(1000.0), ..ParseOptions::default() };
//! let energy = parse("volts*amperes + standby", &inputs)?.program;
//! let flow = Emulation { key_bits: 2048, products: Products::Blinded }.lower(&energy)?;
//! let mut rng = sotto_ring::secure_rng()?;
//! let secret = SecretKey::generate(2048, Masking::HalfLength, &mut rng)?;
//! let recryptor = LocalRecryptor::new(&secret, None)?; // on another machine in earnest
//! let key = recryptor.paillier_key().clone();
//! let mut encrypted = |reading| key.encrypt(&key.signed(reading), &mut rng);
//! let readings = [encrypted(230)?, encrypted(-5)?, encrypted(3)?];
//! let keys = PublicKeys { paillier: key.clone(), elgamal: None };
//! let answers = run(&flow, &keys, &readings, &recryptor, Schedule::parallel())?;
//! let watts = Decryptor::new(&secret)?.decrypt(&key, &answers[0])?;
//! assert_eq!(watts.to_signed(&key), Some(-1147));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Paillier adds and ElGamal multiplies; a program needs both. [`Emulation::lower`] turns a program into a
//! [`Flow`]: local operations, and requests to a [`Recrypt`] that holds the keys. [`Progress`] runs a flow,
//! one step after another or all ready steps in parallel. This is the cloud's side: it needs no secret key.
//! The three modes, and the numbers that the recryptor sees in each: docs/concepts/partial.md.
//!
//! A flow is not a `sotto_program::Plan`: a plan's steps carry levels, noise, slots and evaluation keys,
//! which do not exist here, and a plan has neither a second scheme nor trips.

mod blind;
mod error;
mod flow;
mod lower;
mod progress;
mod run;
mod schedule;
mod value;
mod work;

pub use blind::BLINDING_BITS;
pub use error::{LowerError, RunError};
pub use flow::{At, Flow, FlowStep, Seen};
pub use lower::{Emulation, LARGEST_CLEAR_BITS, LARGEST_ELGAMAL_BITS, Products};
pub use progress::{Progress, PublicKeys, Tally};
pub use run::run;
pub use schedule::Schedule;
pub use sotto_partial::recrypt::{LARGEST_BATCH, Recrypt, RecryptError, Request, Response};
