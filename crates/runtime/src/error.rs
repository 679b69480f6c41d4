//! Reasons why a plan is not run.

use sotto_program::PlanError;
use sotto_rlwe::{EvalError, KeyId};

/// The reason why a plan gives no outputs. [`check`](crate::check()) finds every reason but [`RunError::Transparent`]
/// before anything is computed.
///
/// ```
/// use sotto_program::{ParseOptions, Target, parse};
/// use sotto_rlwe::{Bfv, EvaluationKeys, Evaluator, KeyId, Origin, Params};
/// use sotto_runtime::{Encoding, RlweTarget, RunError, run};
///
/// let options = ParseOptions { undeclared: Some(120.0), ..ParseOptions::default() };
/// let program = parse("inlet - outlet", &options)?.program;
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let (encoding, origin) = (Encoding::Slots, Origin::SecretKey);
/// let target = RlweTarget { params: params.clone(), encoding, origin, kept: None, may_wrap: false };
/// let plan = target.lower(&program)?;
/// let keys = EvaluationKeys::empty(&params, KeyId([2; 16])); // a difference needs none
/// let refused = run(&plan, &Evaluator::new(&params), vec![], &keys).err();
/// assert_eq!(refused, Some(RunError::Inputs { expected: 2, found: 0 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan is for other parameters.
    #[error("the plan is for other parameters than these")]
    Parameters,
    /// The number of inputs differs from the plan's.
    #[error("the plan takes {expected} inputs, {found} were given")]
    Inputs {
        /// Number of inputs of the plan.
        expected: usize,
        /// Number of given inputs.
        found: usize,
    },
    /// Inputs are under different keys, but the plan combines them.
    #[error(
        "input {input} is under key {found}, the plan takes it under {expected}, and no switch-key step brings it there: \
         only ciphertexts under one key can be computed on together; plan the question with this input under another key"
    )]
    MixedKeys {
        /// The input's name.
        input: String,
        /// The key of the inputs that it is combined with, or the answer's key.
        expected: KeyId,
        /// The input's key.
        found: KeyId,
    },
    /// Inputs are under one key, but the plan numbers their keys differently.
    #[error(
        "input {input} is under key {found} like others that the plan takes under another key: \
         plan the question with these inputs under one key"
    )]
    SameKey {
        /// The input's name.
        input: String,
        /// The input's key.
        found: KeyId,
    },
    /// A constant does not fit the parameters.
    #[error("constant {index} of the plan does not fit these parameters: {reason}")]
    Constant {
        /// The constant's index.
        index: usize,
        /// The fault, as a clause.
        reason: &'static str,
    },
    /// The plan holds more bytes of ciphertexts at the same time than allowed.
    #[error(
        "the plan holds {needed} bytes of ciphertexts at once ({:.1} MiB), {most} are granted: ask for less at a time, or grant it more",
        *needed as f64 / f64::from(1 << 20)
    )]
    Memory {
        /// Peak bytes of ciphertexts, for the plan's order of steps.
        needed: u64,
        /// Bytes allowed.
        most: u64,
    },
    /// An output is transparent (its mask is zero), so readers would refuse it. The planner makes no such plan; only a
    /// run can detect it.
    #[error(
        "output {output} of the plan is zero for all inputs (as x*0 or x-x), so its ciphertext would hide nothing: \
         leave it out"
    )]
    Transparent {
        /// The output's name.
        output: String,
    },
    /// An output cannot be reduced to its form.
    #[error("output {output} of the plan cannot be reduced to its form: {error}")]
    Output {
        /// The output's name.
        output: String,
        /// The reason.
        error: EvalError,
    },
    /// A step is refused, e.g. for its noise, a missing key or its level.
    #[error("step {index} of the plan ({step}) is refused: {error}")]
    Step {
        /// The step's index.
        index: usize,
        /// The step's name.
        step: &'static str,
        /// The reason.
        error: EvalError,
    },
}
