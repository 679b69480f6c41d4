//! BGV: matching of plaintext factors, and tables.

use sotto_program::Step;
use sotto_rlwe::{Bgv, Ciphertext, EncodeError, EvalError, Evaluator, Params, Plaintext, Shape};

use super::{StepRules, foreign, looks_up_tables};
use crate::constants::encode_integers;

impl StepRules for Bgv {
    fn encode(params: &Params<Self>, values: &[f64], level: usize) -> Result<Plaintext<Self>, EncodeError> {
        encode_integers(params, values, level)
    }

    looks_up_tables!();

    fn follow_own(params: &Params<Self>, step: &Step, of: &Shape<Self>) -> Result<Shape<Self>, EvalError> {
        match step {
            Step::MatchFactor { scalar, .. } => of.match_factor(params, *scalar),
            _ => Err(foreign::<Self>(step)),
        }
    }

    fn run_own(
        evaluator: &Evaluator<Self>,
        step: &Step,
        of: &Ciphertext<Self>,
    ) -> Result<Ciphertext<Self>, EvalError> {
        match step {
            Step::MatchFactor { scalar, .. } => evaluator.match_factor(of, *scalar),
            _ => Err(foreign::<Self>(step)),
        }
    }
}
