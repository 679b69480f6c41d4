//! Where the schemes differ in a plan: what has to happen before and after products and sums.

mod bfv;
mod bgv;
mod ckks;

use sotto_program::{Register, Step};
use sotto_rlwe::{Ciphertext, EncodeError, EvalError, Evaluator, Params, Plaintext, Scheme, Shape};

use crate::lower::Builder;

/// A scheme that programs can be lowered to.
pub trait Managed: Scheme {
    /// Whether values are integers modulo t.
    const EXACT: bool;

    /// The scaling that a constant is added with, given that of the ciphertext.
    fn addend_scaling(of: Self::Scaling) -> Self::Scaling {
        of
    }

    /// Brings two registers to one level and scaling, for a sum.
    fn align(
        builder: &mut Builder<'_, Self>,
        a: Register,
        b: Register,
    ) -> Result<(Register, Register), EvalError>
    where
        Self: Sized;

    /// Brings two registers to the level at which they are best multiplied.
    fn before_product(
        builder: &mut Builder<'_, Self>,
        a: Register,
        b: Register,
    ) -> Result<(Register, Register), EvalError>
    where
        Self: Sized,
    {
        Self::align(builder, a, b)
    }

    /// After a product, relinearised or with a plaintext: CKKS rescales.
    fn after_product(_builder: &mut Builder<'_, Self>, product: Register) -> Result<Register, EvalError>
    where
        Self: Sized,
    {
        Ok(product)
    }

    /// Before an answer leaves: exact schemes drop primes that it no longer needs.
    fn finish(builder: &mut Builder<'_, Self>, answer: Register) -> Result<Register, EvalError>
    where
        Self: Sized,
    {
        shrink(builder, answer)
    }

    /// Encodes a constant, the same in every slot or one value a slot, for a level.
    fn encode(params: &Params<Self>, values: &[f64], level: usize) -> Result<Plaintext<Self>, EncodeError>
    where
        Self: Sized;

    /// The shape after a step that only this scheme has.
    fn follow_own(_params: &Params<Self>, step: &Step, _of: &Shape<Self>) -> Result<Shape<Self>, EvalError>
    where
        Self: Sized,
    {
        Err(foreign::<Self>(step))
    }

    /// Runs a step that only this scheme has.
    fn run_own(_: &Evaluator<Self>, step: &Step, _: &Ciphertext<Self>) -> Result<Ciphertext<Self>, EvalError>
    where
        Self: Sized,
    {
        Err(foreign::<Self>(step))
    }
}

/// The step belongs to another scheme.
pub(crate) fn foreign<S: Scheme>(step: &Step) -> EvalError {
    EvalError::Unsupported { operation: step.name(), scheme: S::ID }
}

/// Drops primes while the answer stays decryptable with two bits to spare: fewer bytes travel back.
pub(crate) fn shrink<S: Managed>(
    builder: &mut Builder<'_, S>,
    mut answer: Register,
) -> Result<Register, EvalError> {
    while let Ok(smaller) = builder.shape(answer).drop_prime(builder.params()) {
        if smaller.room(builder.params()) < 2.0 {
            break;
        }
        answer = builder.push(Step::DropModulus { of: answer, count: 1 })?;
    }
    Ok(answer)
}

/// Drops primes of the higher of two registers until both are at one level.
pub(crate) fn level<S: Managed>(
    builder: &mut Builder<'_, S>,
    mut a: Register,
    mut b: Register,
) -> Result<(Register, Register), EvalError> {
    while builder.shape(a).level > builder.shape(b).level {
        a = builder.push(Step::DropModulus { of: a, count: 1 })?;
    }
    while builder.shape(b).level > builder.shape(a).level {
        b = builder.push(Step::DropModulus { of: b, count: 1 })?;
    }
    Ok((a, b))
}
