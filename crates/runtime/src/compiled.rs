//! Checks, runs and lowering as functions of each scheme, compiled with this crate. A program that calls a generic
//! function compiles all code below it again.

use sotto_program::{LowerError, Plan, Program};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, EvaluationKeys, Evaluator, KeyId, Params, Shape};

use crate::check::checked;
use crate::error::RunError;
use crate::lower::{Lowered, Merged, RlweTarget};
use crate::manage::Managed;
use crate::run::execute_plan;
use crate::threads::Threads;

/// Entry points that are compiled once for each scheme. Call [`check`](crate::check), [`run_on`](crate::run_on) and
/// [`RlweTarget`] instead.
#[doc(hidden)]
pub trait Compiled: Sized {
    fn check_plan(
        plan: &Plan,
        params: &Params<Self>,
        inputs: &[(KeyId, Shape<Self>)],
        keys: &EvaluationKeys<Self>,
        most_bytes: u64,
    ) -> Result<Vec<Shape<Self>>, RunError>
    where
        Self: Managed;

    fn run_plan(
        threads: &Threads,
        plan: &Plan,
        evaluator: &Evaluator<Self>,
        inputs: Vec<Ciphertext<Self>>,
        keys: &EvaluationKeys<Self>,
        most_bytes: u64,
    ) -> Result<Vec<Ciphertext<Self>>, RunError>
    where
        Self: Managed;

    fn lower_program(
        target: &RlweTarget<Self>,
        program: &Program,
        merged: &[Merged],
        reduced: bool,
    ) -> Result<Lowered<Self>, LowerError>
    where
        Self: Managed;
}

macro_rules! compiled {
    ($($scheme:ty),*) => {$(
        impl Compiled for $scheme {
            #[inline(never)]
            fn check_plan(
                plan: &Plan,
                params: &Params<Self>,
                inputs: &[(KeyId, Shape<Self>)],
                keys: &EvaluationKeys<Self>,
                most_bytes: u64,
            ) -> Result<Vec<Shape<Self>>, RunError> {
                checked(plan, params, inputs, keys, most_bytes).map(|checked| checked.outputs)
            }

            #[inline(never)]
            fn run_plan(
                threads: &Threads,
                plan: &Plan,
                evaluator: &Evaluator<Self>,
                inputs: Vec<Ciphertext<Self>>,
                keys: &EvaluationKeys<Self>,
                most_bytes: u64,
            ) -> Result<Vec<Ciphertext<Self>>, RunError> {
                execute_plan(threads, plan, evaluator, inputs, keys, most_bytes)
            }

            #[inline(never)]
            fn lower_program(
                target: &RlweTarget<Self>,
                program: &Program,
                merged: &[Merged],
                reduced: bool,
            ) -> Result<Lowered<Self>, LowerError> {
                target.lower_leaving(program, merged, reduced)
            }
        }
    )*};
}

compiled!(Bfv, Bgv, Ckks);
