//! BGV: matching of plaintext factors, and tables.

use sotto_circuits::Table;
use sotto_program::Step;
use sotto_rlwe::{
    Bgv, Ciphertext, EncodeError, EvalError, EvaluationKeys, Evaluator, Params, Plaintext, Shape,
};

use super::{Managed, foreign, table_shape, table_value};
use crate::constants::encode_integers;

impl Managed for Bgv {
    fn encode(params: &Params<Self>, values: &[f64], level: usize) -> Result<Plaintext<Self>, EncodeError> {
        encode_integers(params, values, level)
    }

    fn follow_table(
        params: &Params<Self>,
        table: &Table,
        of: &Shape<Self>,
    ) -> Result<Shape<Self>, EvalError> {
        table_shape(params, table, of)
    }

    fn run_table(
        evaluator: &Evaluator<Self>,
        table: &Table,
        of: &Ciphertext<Self>,
        keys: &EvaluationKeys<Self>,
    ) -> Result<Ciphertext<Self>, EvalError> {
        table_value(evaluator, table, of, keys)
    }

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
