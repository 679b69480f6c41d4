//! Lowers programs to plans for a scheme and its parameters, checks plans, and runs them on ciphertexts.
//!
//! ```
//! use sotto_decrypt::Decryptor;
//! use sotto_keys::{DeviceSecret, SecretKey};
//! use sotto_program::{InputDeclaration, ParseOptions, parse};
//! use sotto_rlwe::{Bgv, Evaluator, Origin, Scheme};
//! use sotto_runtime::{Requirements, Encoding, choose, run};
//!
//! // The heat that a boiler gives off, from its inlet and outlet in °C and its flow, at each reading.
//! let inputs = [("inlet", 120.0), ("outlet", 120.0), ("flow", 10.0)];
//! let inputs = inputs.map(|(name, magnitude)| InputDeclaration::new(name, magnitude)).to_vec();
//! let options = ParseOptions { inputs, ..ParseOptions::default() };
//! let program = parse("(outlet - inlet) * flow", &options)?.program;
//! let asked = Requirements {
//!     encoding: Encoding::Slots,
//!     origin: Origin::SecretKey,
//!     plain_modulus: None,
//!     columns: 24,
//!     degree: None,
//!     largest_error: 0.0,
//! };
//! let choice = choose::<Bgv>(&[program], &asked)?;
//! let (params, plan) = (&choice.target.params, &choice.lowered[0].plan);
//!
//! // The device encrypts.
//! let mut rng = sotto_ring::secure_rng()?;
//! let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), params);
//! let mut readings = Vec::new();
//! for values in [[41, 40], [61, 63], [3, 2]] {
//!     let plain = Bgv::encode_slots(params, &values, params.top_level())?;
//!     readings.push(key.encrypt(&plain, &mut rng)?.expand());
//! }
//! // The cloud computes with the evaluation keys that the plan names.
//! let keys = key.evaluation_keys(plan.keys.relinearisation, &plan.keys.rotations, &mut rng)?;
//! let answers = run(plan, &Evaluator::new(params), readings, &keys)?;
//! // The owner decrypts.
//! let heat = Decryptor::new(&key).slots(&answers[0])?.into_exact(choice.lowered[0].outputs[0].magnitude)?;
//! assert_eq!(heat[..2], [60, 46]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod choose;
mod constants;
mod error;
mod execute;
mod input_keys;
mod lower;
mod managed;
mod memory;
mod order;
mod run;
mod step_rules;
mod threads;

pub use check::reduction;
pub use choose::{Choice, ChooseError, Requirements, choose};
pub use error::RunError;
pub use lower::{Encoding, Lowered, Merged, Planned, RlweTarget};
pub use managed::{Managed, check, run, run_on};
pub use step_rules::StepRules;
pub use threads::{Threads, ThreadsError};
