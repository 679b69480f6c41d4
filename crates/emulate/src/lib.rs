//! Both sums and products over the partially homomorphic schemes, with a re-encryption agent.
//!
//! Paillier adds and ElGamal multiplies; a program does both. [`Emulation::lower`] turns one into a [`Flow`]: local operations, and
//! requests to an [`Recrypt`] that holds the keys. [`Progress`] runs a flow, one step after another or everything that is ready at
//! once. The cloud's side: no secret key is needed here. What the recryptor sees, and the three modes: docs/concepts/partial.md.
//!
//! A flow is no `sotto_program::Plan`: a plan's steps carry levels, noise, slots and evaluation keys, which have no meaning here,
//! and know neither a second scheme nor a trip.

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
