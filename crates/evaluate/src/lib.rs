//! The cloud's work on stored ciphertexts: jobs by a plan, sums of ciphertexts under one key, and sums with tags.
//!
//! ```
//! # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../rlwe/tests/it/owner/mod.rs")); }
//! # use owner::Owner;
//! use sotto_evaluate::job;
//! use sotto_program::{ParseOptions, parse};
//! use sotto_rlwe::{Bfv, Origin, Params, Scheme};
//! use sotto_runtime::{Encoding, RlweTarget, Threads};
//! use sotto_wire::{AnyCiphertext, Body};
//!
//! let params = Params::<Bfv>::default_chain(4096, 65_537)?;
//! # let owner = Owner::new(&params, 1);
//! # let (public_key, keys) = (owner.public_key(), owner.evaluation_keys(&[]));
//! # let frame = |values: &[i64]| {
//! #     let plaintext = Bfv::encode_slots(&params, values, params.top_level())?;
//! #     let ciphertext = public_key.encrypt(&plaintext, &mut sotto_ring::secure_rng()?)?;
//! #     Ok::<_, Box<dyn std::error::Error>>(AnyCiphertext::Expanded(ciphertext).write())
//! # };
//! // The owner plans; the cloud gets the plan, the frames of the inputs and the evaluation keys.
//! let options = ParseOptions { undeclared: Some(300.0), ..ParseOptions::default() };
//! let program = parse("boiler + 2 * pump", &options)?.program;
//! let (encoding, origin) = (Encoding::Slots, Origin::PublicKey);
//! let target = RlweTarget { params: params.clone(), encoding, origin, kept: None, may_wrap: false };
//! let plan = target.lower_with_shapes(&program)?.plan;
//! let frames = [frame(&[215, 198])?, frame(&[187, 203])?];
//! let mut inputs = frames.into_iter().map(|frame| Body::read(frame, 1 << 20));
//! let done = job(&params, &plan, &mut inputs, &keys, &Threads::one(), 1 << 24)?;
//! // The owner decrypts the output.
//! let answer = AnyCiphertext::read(&done.outputs[0], &params)?.with_claimed_shape().expand();
//! assert_eq!(Bfv::decode_slots(&params, &owner.decrypt(&answer))?[..2], [589, 604]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The cloud and a verifier run the same code, and the outputs are the same bytes on every machine. It takes
//! ciphertexts, returns frames, and needs neither a secret key nor I/O.

mod input;
mod job;
mod rolled;
mod rows;
mod switched;
mod tagged;

pub use input::{Input, MOST_KEYS};
pub use job::{Evaluated, JobError, job};
pub use rows::TaggedRows;
pub use switched::SwitchedSum;
pub use tagged::{LARGEST_SUMS, SumError, TaggedSum, TaggedSumming};
