//! Turns the decisions of [`LevelRules`] on levels and scales into steps, which differ between the schemes.

mod bfv;
mod bgv;
mod ckks;

use sotto_circuits::{CircuitError, Encrypted, Outline, Table};
use sotto_program::{Register, Step};
use sotto_rlwe::{
    Adjustment, Ciphertext, EncodeError, EvalError, EvaluationKeys, Evaluator, LevelRules, Params, PlainSize,
    Plaintext, Scheme, Shape,
};

use crate::compiled::Compiled;
use crate::lower::Builder;

/// A scheme that programs can be lowered to.
///
/// Code that is generic in the scheme takes a `Managed`. Lowering hands a [`Builder`] to its methods.
///
/// ```
/// use sotto_program::{ParseOptions, Program, Register, Step, parse};
/// use sotto_rlwe::{Bfv, Bgv, EvalError, Origin};
/// use sotto_runtime::{Asked, Builder, ChooseError, Encoding, Managed, choose};
///
/// /// Doubles a register, at the lowest level.
/// fn doubled<S: Managed>(plan: &mut Builder<'_, S>, of: Register) -> Result<Register, EvalError> {
///     let of = S::lower(plan, of, 0)?;
///     plan.push(Step::Add(of, of))
/// }
///
/// /// Returns the smallest degree that holds this program.
/// fn degree<S: Managed>(program: &Program) -> Result<usize, ChooseError> {
///     let asked = Asked {
///         encoding: Encoding::Slots,
///         origin: Origin::SecretKey,
///         plain_modulus: None,
///         columns: 64,
///         degree: None,
///         largest_error: 0.0,
///     };
///     choose::<S>(std::slice::from_ref(program), &asked).map(|choice| choice.target.params.degree())
/// }
///
/// let options = ParseOptions { undeclared: Some(120.0), ..ParseOptions::default() };
/// let program = parse("inlet - outlet", &options)?.program;
/// assert_eq!(degree::<Bfv>(&program)?, degree::<Bgv>(&program)?);
/// # let _compiles = doubled::<Bfv>;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Managed: LevelRules + Compiled {
    /// Brings a register to a lower level without changing its message.
    ///
    /// # Errors
    /// [`EvalError`] if the register cannot be brought to this level.
    fn lower(builder: &mut Builder<'_, Self>, mut of: Register, level: usize) -> Result<Register, EvalError>
    where
        Self: Sized,
    {
        while builder.shape(of).level > level {
            of = builder.push(Step::DropModulus { of, count: 1 })?;
        }
        Ok(of)
    }

    /// Encodes a constant for a level: one value for all slots, or one per slot.
    ///
    /// # Errors
    /// [`EncodeError`] if a value is out of range, or there are more values than slots.
    fn encode(params: &Params<Self>, values: &[f64], level: usize) -> Result<Plaintext<Self>, EncodeError>
    where
        Self: Sized;

    /// Returns the shape after a step that only this scheme has.
    ///
    /// # Errors
    /// [`EvalError`] if the step belongs to another scheme or is not allowed.
    fn follow_own(_params: &Params<Self>, step: &Step, _of: &Shape<Self>) -> Result<Shape<Self>, EvalError>
    where
        Self: Sized,
    {
        Err(foreign::<Self>(step))
    }

    /// Returns the size of the constant that brings values to the scale of a lower level before the division by the
    /// prime above it. Returns None in schemes without scales.
    fn scale_match(_params: &Params<Self>, _from: usize, _to: usize) -> Option<PlainSize>
    where
        Self: Sized,
    {
        None
    }

    /// Returns the shape after a look-up in a table.
    ///
    /// # Errors
    /// [`EvalError::Unsupported`] for a scheme on reals; else those of the products.
    fn follow_table(_: &Params<Self>, _: &Table, _: &Shape<Self>) -> Result<Shape<Self>, EvalError>
    where
        Self: Sized,
    {
        Err(EvalError::Unsupported { operation: "table", scheme: Self::ID })
    }

    /// Looks up every slot in a table.
    ///
    /// # Errors
    /// Those of [`Managed::follow_table`].
    fn run_table(
        _: &Evaluator<Self>,
        _: &Table,
        _: &Ciphertext<Self>,
        _: &EvaluationKeys<Self>,
    ) -> Result<Ciphertext<Self>, EvalError>
    where
        Self: Sized,
    {
        Err(EvalError::Unsupported { operation: "table", scheme: Self::ID })
    }

    /// Returns the shape of the signs of slots within ±1, with a gap of 2^-`gap_bits`.
    ///
    /// # Errors
    /// [`EvalError::Unsupported`] for a scheme on whole numbers, or another gap; [`EvalError::Coarse`] if the operand's error
    /// is too large for the gap; else those of the products.
    fn follow_sign(_: &Params<Self>, _gap_bits: u8, _: &Shape<Self>) -> Result<Shape<Self>, EvalError>
    where
        Self: Sized,
    {
        Err(EvalError::Unsupported { operation: "sign", scheme: Self::ID })
    }

    /// Returns the signs of slots.
    ///
    /// # Errors
    /// Those of [`Managed::follow_sign`].
    fn run_sign(
        _: &Evaluator<Self>,
        _gap_bits: u8,
        _: &Ciphertext<Self>,
        _: &EvaluationKeys<Self>,
    ) -> Result<Ciphertext<Self>, EvalError>
    where
        Self: Sized,
    {
        Err(EvalError::Unsupported { operation: "sign", scheme: Self::ID })
    }

    /// Runs a step that only this scheme has.
    ///
    /// # Errors
    /// [`EvalError`] if the step belongs to another scheme or is not allowed.
    fn run_own(_: &Evaluator<Self>, step: &Step, _: &Ciphertext<Self>) -> Result<Ciphertext<Self>, EvalError>
    where
        Self: Sized,
    {
        Err(foreign::<Self>(step))
    }
}

/// Implements the look-ups of [`Managed`] for a scheme of whole numbers.
macro_rules! looks_up_tables {
    () => {
        fn follow_table(
            params: &sotto_rlwe::Params<Self>,
            table: &sotto_circuits::Table,
            of: &sotto_rlwe::Shape<Self>,
        ) -> Result<sotto_rlwe::Shape<Self>, sotto_rlwe::EvalError> {
            super::table_shape(params, table, of)
        }

        fn run_table(
            evaluator: &sotto_rlwe::Evaluator<Self>,
            table: &sotto_circuits::Table,
            of: &sotto_rlwe::Ciphertext<Self>,
            keys: &sotto_rlwe::EvaluationKeys<Self>,
        ) -> Result<sotto_rlwe::Ciphertext<Self>, sotto_rlwe::EvalError> {
            super::table_value(evaluator, table, of, keys)
        }
    };
}
use looks_up_tables;

/// Follows the shape of a look-up on whole numbers.
fn table_shape<S: LevelRules<Value = i64>>(
    params: &Params<S>,
    table: &Table,
    of: &Shape<S>,
) -> Result<Shape<S>, EvalError> {
    table.evaluate(&mut Outline::new(params), of).map_err(|error| refused::<S>(error, "table"))
}

/// Looks up whole numbers.
fn table_value<S: LevelRules<Value = i64>>(
    evaluator: &Evaluator<S>,
    table: &Table,
    of: &Ciphertext<S>,
    keys: &EvaluationKeys<S>,
) -> Result<Ciphertext<S>, EvalError> {
    table.evaluate(&mut Encrypted::new(evaluator, keys), of).map_err(|error| refused::<S>(error, "table"))
}

fn refused<S: Scheme>(error: CircuitError, operation: &'static str) -> EvalError {
    match error {
        CircuitError::Eval(error) => error,
        CircuitError::Levels { .. } => EvalError::NoLevel { level: 0 },
        CircuitError::Coarse { bits, .. } => EvalError::Coarse { bits },
        // A constant table, a modulus that is no prime above its length, or a gap without an approximation.
        _ => EvalError::Unsupported { operation, scheme: S::ID },
    }
}

/// The operand of a sign may exceed ±1 by this much: declared magnitudes are rounded up.
pub(crate) const BEYOND_ONE: f64 = 1e-9;

/// Returns the error for a step of another scheme.
pub(crate) fn foreign<S: Scheme>(step: &Step) -> EvalError {
    EvalError::Unsupported { operation: step.name(), scheme: S::ID }
}

/// Brings two registers to one level and scaling, for a sum.
pub(crate) fn before_sum<S: Managed>(
    builder: &mut Builder<'_, S>,
    a: Register,
    b: Register,
) -> Result<(Register, Register), EvalError> {
    let [for_a, for_b] = S::before_sum(builder.params(), builder.shape(a), builder.shape(b));
    let (a, b) = (S::lower(builder, a, for_a.level)?, S::lower(builder, b, for_b.level)?);
    let matched = |builder: &mut Builder<'_, S>, of, adjustment: Adjustment| match adjustment.factor {
        1 => Ok(of),
        scalar => builder.push(Step::MatchFactor { of, scalar }),
    };
    Ok((matched(builder, a, for_a)?, matched(builder, b, for_b)?))
}

/// Brings two registers to the level at which their product is taken.
pub(crate) fn before_product<S: Managed>(
    builder: &mut Builder<'_, S>,
    a: Register,
    b: Register,
) -> Result<(Register, Register), EvalError> {
    let level = S::product_level(builder.params(), builder.shape(a), builder.shape(b))?;
    Ok((S::lower(builder, a, level)?, S::lower(builder, b, level)?))
}

/// Rescales a product, relinearised or with a plaintext, if the scheme rescales.
pub(crate) fn after_product<S: Managed>(
    builder: &mut Builder<'_, S>,
    product: Register,
) -> Result<Register, EvalError> {
    if S::RESCALES { builder.push(Step::DropModulus { of: product, count: 1 }) } else { Ok(product) }
}

/// Brings an output down to the level at which it is returned.
pub(crate) fn finish<S: Managed>(
    builder: &mut Builder<'_, S>,
    answer: Register,
) -> Result<Register, EvalError> {
    let level = S::answer_level(builder.params(), builder.shape(answer))?;
    S::lower(builder, answer, level)
}
