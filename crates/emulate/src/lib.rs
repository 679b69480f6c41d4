//! Programs with both sums and products over the partially homomorphic schemes, with a re-encryption agent
//! ("recryptor").
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
mod schedule;
mod value;

pub use blind::BLINDING_BITS;
pub use error::{LowerError, RunError};
pub use flow::{At, Flow, Seen, Step};
pub use lower::{Emulation, LARGEST_CLEAR_BITS, LARGEST_ELGAMAL_BITS, Products};
pub use progress::{Progress, PublicKeys, Tally, run};
pub use schedule::Schedule;
pub use sotto_partial::recrypt::{LARGEST_BATCH, Recrypt, RecryptError, Request, Response};
