//! BFV needs no management: noise does not depend on the level.

use sotto_program::Register;
use sotto_rlwe::{Bfv, EncodeError, EvalError, Params, Plaintext};

use super::{Managed, level};
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

    fn encode(params: &Params<Self>, values: &[f64], level: usize) -> Result<Plaintext<Self>, EncodeError> {
        encode_integers(params, values, level)
    }
}
