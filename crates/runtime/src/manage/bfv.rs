//! BFV needs no management: noise does not depend on the level.

use sotto_program::{Register, Step};
use sotto_rlwe::{Bfv, Ciphertext, EncodeError, EvalError, Evaluator, Params, Plaintext, Shape};

use super::{Managed, foreign, level, shrink};
use crate::constants::encode_integers;
use crate::lower::Builder;

impl Managed for Bfv {
    const EXACT: bool = true;

    fn align(
        builder: &mut Builder<'_, Self>,
        a: Register,
        b: Register,
    ) -> Result<(Register, Register), EvalError> {
        level(builder, a, b)
    }

    fn before_product(
        builder: &mut Builder<'_, Self>,
        a: Register,
        b: Register,
    ) -> Result<(Register, Register), EvalError> {
        level(builder, a, b)
    }

    fn after_product(_builder: &mut Builder<'_, Self>, product: Register) -> Result<Register, EvalError> {
        Ok(product)
    }

    fn finish(builder: &mut Builder<'_, Self>, answer: Register) -> Result<Register, EvalError> {
        shrink(builder, answer)
    }

    fn encode(params: &Params<Self>, values: &[f64], level: usize) -> Result<Plaintext<Self>, EncodeError> {
        encode_integers(params, values, level)
    }

    fn follow_own(_params: &Params<Self>, step: &Step, _of: &Shape<Self>) -> Result<Shape<Self>, EvalError> {
        Err(foreign::<Self>(step))
    }

    fn run_own(
        _: &Evaluator<Self>,
        step: &Step,
        _: &Ciphertext<Self>,
    ) -> Result<Ciphertext<Self>, EvalError> {
        Err(foreign::<Self>(step))
    }
}
