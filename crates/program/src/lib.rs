//! Programs and plans, without cryptography.
//!
//! ```
//! use sotto_program::{ParseOptions, SlotShape, clear, parse};
//!
//! let asked = parse("3*4+3", &ParseOptions::encrypted_literals())?;
//! let inputs: Vec<Vec<i128>> = asked.literal_integers().expect("all literals are integers");
//! assert_eq!(inputs, [[3], [4], [3]]);
//! let answers = clear::run_integer(&asked.program, &inputs, SlotShape::SCALAR, Some(1021))?;
//! assert_eq!(answers, [[15]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two languages of programs are kept apart:
//!
//! - An [`Op`] is an operation that is asked for. A [`Program`] is a list of them in SSA form. It knows no scheme, and
//!   is made by [`parse()`] or a [`ProgramBuilder`]. [`clear`] defines its meaning.
//! - A [`Step`] is an operation on ciphertexts. A [`Plan`] is a list of them for one parameter set. A [`Target`] makes
//!   it, and refuses an impossible program ([`LowerError`]) before a key exists.
//!
//! # Features
//!
//! - `std` (default): the standard library in the dependencies. Without it the crate needs `alloc` only, with the same
//!   interface.

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

mod builder;
pub mod clear;
mod constant;
mod key_number;
pub mod limits;
mod name;
mod op;
pub mod parse;
mod parts;
pub mod passes;
pub mod plan;
mod program;
mod shape;
mod target;
pub mod text;
mod validate;

pub use builder::ProgramBuilder;
pub use clear::{magnitudes, slot_magnitudes};
pub use constant::Constant;
pub use key_number::KeyNumber;
pub use name::is_name;
pub use op::{ConstantId, InputId, NodeId, Op};
pub use parse::{Literals, ParseError, ParseOptions, ParsedExpression, parse};
pub use parts::{InputDeclaration, ProgramParts};
pub use plan::{
    KeysNeeded, OutputForm, PlainConstant, Plan, PlanError, PlanInput, PlanOutput, PlanStep, Predicted,
    Register, Step,
};
pub use program::{Depth, Program};
pub use shape::SlotShape;
pub use target::{LowerError, Target};
pub use validate::ProgramError;
