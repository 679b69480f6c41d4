//! BFV: tables, and no steps of its own.

use sotto_circuits::Table;
use sotto_rlwe::{
    Bfv, Ciphertext, EncodeError, EvalError, EvaluationKeys, Evaluator, Params, Plaintext, Shape,
};

use super::{Managed, table_shape, table_value};
use crate::constants::encode_integers;

impl Managed for Bfv {
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
}
