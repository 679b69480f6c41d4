//! Why a plan is not run.

use sotto_program::PlanError;
use sotto_rlwe::{EvalError, KeyId};

/// Why a plan is not run. Nothing was computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The plan itself is not valid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It is for other parameters.
    #[error("the plan is for other parameters than these")]
    Parameters,
    /// More or fewer inputs.
    #[error("the plan takes {expected} inputs, {found} were given")]
    Inputs {
        /// Inputs that the plan takes.
        expected: usize,
        /// Inputs given.
        found: usize,
    },
    /// Inputs under different keys that the plan takes together.
    #[error(
        "input {input} is under key {found}, the plan takes it under {expected}, and no switch-key step brings it there: \
         only ciphertexts under one key can be computed on together; plan the question with this input under another key"
    )]
    MixedKeys {
        /// The input's name.
        input: String,
        /// The key of the inputs that it is taken with, or the answer's.
        expected: KeyId,
        /// The key that it is under.
        found: KeyId,
    },
    /// Inputs under one key that the plan takes under different ones.
    #[error(
        "input {input} is under key {found} like others that the plan takes under another key: \
         plan the question with these inputs under one key"
    )]
    SameKey {
        /// The input's name.
        input: String,
        /// The key that it is under.
        found: KeyId,
    },
    /// A constant does not fit the parameters.
    #[error("constant {index} of the plan does not fit these parameters: {reason}")]
    Constant {
        /// Which constant.
        index: usize,
        /// Why.
        reason: &'static str,
    },
    /// More ciphertexts at once than there is memory for.
    #[error(
        "the plan holds {needed} bytes of ciphertexts at once ({:.1} MiB), {most} are granted: ask for less at a time, or grant it more",
        *needed as f64 / f64::from(1 << 20)
    )]
    Memory {
        /// Bytes at once, in the plan's order.
        needed: u64,
        /// Bytes that are granted.
        most: u64,
    },
    /// An output that nobody could read again. The planner makes no such plan, and only the run tells.
    #[error(
        "output {output} of the plan is zero whatever the inputs are (x*0, x-x), and nothing would hide it: leave it out"
    )]
    Transparent {
        /// Its name.
        output: String,
    },
    /// An output cannot leave in its form.
    #[error("output {output} of the plan cannot leave in its form: {error}")]
    Output {
        /// Its name.
        output: String,
        /// Why.
        error: EvalError,
    },
    /// A step is refused: noise, a missing key, levels.
    #[error("step {index} of the plan ({step}) is refused: {error}")]
    Step {
        /// Which step.
        index: usize,
        /// Its name.
        step: &'static str,
        /// Why.
        error: EvalError,
    },
}
