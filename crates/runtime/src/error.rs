//! Why a plan is not run.

use sotto_program::PlanError;
use sotto_rlwe::EvalError;

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
    /// A constant does not fit the parameters.
    #[error("constant {index} of the plan does not fit these parameters: {reason}")]
    Constant {
        /// Which constant.
        index: usize,
        /// Why.
        reason: &'static str,
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
