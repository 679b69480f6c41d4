//! Steps before and after sums, products and outputs: levels and scalings by [`LevelRules`](sotto_rlwe::LevelRules).

use sotto_program::{Register, Step};
use sotto_rlwe::{Adjustment, EvalError};

use super::builder::Builder;
use crate::step_rules::StepRules;

/// Brings two registers to one level and scaling, for a sum.
pub(super) fn before_sum<S: StepRules>(
    builder: &mut Builder<'_, S>,
    a: Register,
    b: Register,
) -> Result<(Register, Register), EvalError> {
    let [for_a, for_b] = S::before_sum(builder.params(), builder.shape(a), builder.shape(b));
    let (a, b) = (builder.lower(a, for_a.level)?, builder.lower(b, for_b.level)?);
    let matched = |builder: &mut Builder<'_, S>, of, adjustment: Adjustment| match adjustment.factor {
        1 => Ok(of),
        scalar => builder.push(Step::MatchFactor { of, scalar }),
    };
    Ok((matched(builder, a, for_a)?, matched(builder, b, for_b)?))
}

/// Brings two registers to the level at which their product is taken.
pub(super) fn before_product<S: StepRules>(
    builder: &mut Builder<'_, S>,
    a: Register,
    b: Register,
) -> Result<(Register, Register), EvalError> {
    let level = S::product_level(builder.params(), builder.shape(a), builder.shape(b))?;
    Ok((builder.lower(a, level)?, builder.lower(b, level)?))
}

/// Rescales a product, relinearised or with a plaintext, if the scheme rescales.
pub(super) fn after_product<S: StepRules>(
    builder: &mut Builder<'_, S>,
    product: Register,
) -> Result<Register, EvalError> {
    if S::RESCALES { builder.push(Step::DropModulus { of: product, count: 1 }) } else { Ok(product) }
}

/// Brings an output down to the level at which it is returned.
pub(super) fn finish<S: StepRules>(
    builder: &mut Builder<'_, S>,
    answer: Register,
) -> Result<Register, EvalError> {
    let level = S::answer_level(builder.params(), builder.shape(answer))?;
    builder.lower(answer, level)
}
