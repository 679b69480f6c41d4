//! BFV: tables, and no steps of its own.

use sotto_rlwe::{Bfv, EncodeError, Params, Plaintext};

use super::{StepRules, looks_up_tables};
use crate::constants::encode_integers;

impl StepRules for Bfv {
    fn encode(params: &Params<Self>, values: &[f64], level: usize) -> Result<Plaintext<Self>, EncodeError> {
        encode_integers(params, values, level)
    }

    looks_up_tables!();
}
