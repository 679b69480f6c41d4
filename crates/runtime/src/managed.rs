//! Checks, runs and lowering as functions of each scheme, compiled with this crate. A program that calls a generic
//! function compiles all code below it again.

use sotto_program::{LowerError, Plan, Program, Target};
use sotto_rlwe::{Ciphertext, EvaluationKeys, Evaluator, KeyId, Params, Shape, for_each_scheme};

use crate::check::checked;
use crate::error::RunError;
use crate::lower::{Lowered, Merged, RlweTarget};
use crate::run::execute_plan;
use crate::step_rules::StepRules;
use crate::threads::Threads;

/// A scheme that programs can be lowered to.
///
/// Code that is generic in the scheme takes a `Managed`. Its functions are compiled once for each scheme: call [`check`],
/// [`run_on`] and [`RlweTarget`] instead.
///
/// ```
/// use sotto_program::{ParseOptions, Program, parse};
/// use sotto_rlwe::{Bfv, Bgv, Origin};
/// use sotto_runtime::{Requirements, ChooseError, Encoding, Managed, choose};
///
/// /// Returns the smallest degree that holds this program.
/// fn degree<S: Managed>(program: &Program) -> Result<usize, ChooseError> {
///     let asked = Requirements {
///         encoding: Encoding::Slots,
///         origin: Origin::SecretKey,
///         plain_modulus: None,
///         columns: 64,
///         degree: None,
///         largest_error: 0.0,
///     };
///     choose::<S>(std::slice::from_ref(program), &asked).map(|choice| choice.target.params.degree())
/// }
///
/// let options = ParseOptions { undeclared: Some(120.0), ..ParseOptions::default() };
/// let program = parse("inlet - outlet", &options)?.program;
/// assert_eq!(degree::<Bfv>(&program)?, degree::<Bgv>(&program)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Managed: StepRules + Sized {
    #[doc(hidden)]
    fn check_plan(
        plan: &Plan,
        params: &Params<Self>,
        inputs: &[(KeyId, Shape<Self>)],
        keys: &EvaluationKeys<Self>,
        most_bytes: u64,
    ) -> Result<Vec<Shape<Self>>, RunError>;

    #[doc(hidden)]
    fn run_plan(
        threads: &Threads,
        plan: &Plan,
        evaluator: &Evaluator<Self>,
        inputs: Vec<Ciphertext<Self>>,
        keys: &EvaluationKeys<Self>,
        most_bytes: u64,
    ) -> Result<Vec<Ciphertext<Self>>, RunError>;

    #[doc(hidden)]
    fn lower_program(
        target: &RlweTarget<Self>,
        program: &Program,
        merged: &[Merged],
        reduced: bool,
    ) -> Result<Lowered<Self>, LowerError>;
}

macro_rules! compiled {
    ($($scheme:ty),*) => {$(
        impl Managed for $scheme {
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

for_each_scheme!(compiled);

/// Checks a plan without computing: validity, parameters, constants, keys, levels, noise, and memory. Returns the
/// shapes of the outputs from their owner's view.
///
/// `inputs` are the keys and shapes of the inputs. The answer is under the key that `keys` belong to. `most_bytes`
/// limits the bytes of ciphertexts held at the same time.
///
/// # Errors
/// [`RunError`] names the first fault.
pub fn check<S: Managed>(
    plan: &Plan,
    params: &Params<S>,
    inputs: &[(KeyId, Shape<S>)],
    keys: &EvaluationKeys<S>,
    most_bytes: u64,
) -> Result<Vec<Shape<S>>, RunError> {
    S::check_plan(plan, params, inputs, keys, most_bytes)
}

/// Checks the plan and runs it on the caller's thread. Returns the outputs in the plan's order.
///
/// # Errors
/// Those of [`check`](crate::check), [`RunError::Transparent`] and [`RunError::Step`].
pub fn run<S: Managed>(
    plan: &Plan,
    evaluator: &Evaluator<S>,
    inputs: Vec<Ciphertext<S>>,
    keys: &EvaluationKeys<S>,
) -> Result<Vec<Ciphertext<S>>, RunError> {
    run_on(&Threads::one(), plan, evaluator, inputs, keys, u64::MAX)
}

/// Checks the plan and runs it on these threads, with at most `most_bytes` bytes of ciphertexts at the same time.
/// Returns the outputs in the plan's order. They are bit-identical for any number of threads.
///
/// # Errors
/// Those of [`check`](crate::check), [`RunError::Transparent`] and [`RunError::Step`].
pub fn run_on<S: Managed>(
    threads: &Threads,
    plan: &Plan,
    evaluator: &Evaluator<S>,
    inputs: Vec<Ciphertext<S>>,
    keys: &EvaluationKeys<S>,
    most_bytes: u64,
) -> Result<Vec<Ciphertext<S>>, RunError> {
    S::run_plan(threads, plan, evaluator, inputs, keys, most_bytes)
}

impl<S: Managed> RlweTarget<S> {
    /// Lowers a program. Returns the plan, its keys and the predictions for its outputs.
    ///
    /// Sums and public operands keep a foreign key. A foreign register is switched to the answer's key where it meets
    /// another key, is rotated or multiplied, or is an output. So the sum of a device's inputs is switched once if the
    /// program adds them first. Lowering keeps the program's order of sums: `x + y + z` with y and z under one foreign
    /// key switches twice, `x + (y + z)` once.
    ///
    /// # Errors
    /// [`LowerError`] names the reason and a remedy.
    pub fn lower_with_shapes(&self, program: &Program) -> Result<Lowered<S>, LowerError> {
        self.lower_merged(program, &[])
    }

    /// Like [`lower_with_shapes`](Self::lower_with_shapes), but merges results: the outputs named in an entry of
    /// `merged` share one ciphertext, with their coefficients side by side. If `merged` is empty, each output stays
    /// alone.
    ///
    /// Merged results can be separated only if their plaintexts are polynomials in X^(n/k), where k is twice the number
    /// of values of the inputs: results of slotwise operations and rotations of compact inputs.
    ///
    /// # Errors
    /// Those of [`lower_with_shapes`](Self::lower_with_shapes), and if merged results cannot be brought to one level
    /// and scale.
    pub fn lower_merged(&self, program: &Program, merged: &[Merged]) -> Result<Lowered<S>, LowerError> {
        S::lower_program(self, program, merged, false)
    }

    /// Like [`lower_merged`](Self::lower_merged), for outputs that are only decrypted: each is
    /// [reduced](sotto_rlwe::Reduced) at the level and width where it is smallest. BFV and BGV stay exact; in CKKS the
    /// error bound grows by at most an eighth.
    ///
    /// # Errors
    /// Those of [`lower_merged`](Self::lower_merged).
    pub fn lower_reduced(&self, program: &Program, merged: &[Merged]) -> Result<Lowered<S>, LowerError> {
        S::lower_program(self, program, merged, true)
    }
}

impl<S: Managed> Target for RlweTarget<S> {
    fn lower(&self, program: &Program) -> Result<Plan, LowerError> {
        self.lower_with_shapes(program).map(|lowered| lowered.plan)
    }
}
