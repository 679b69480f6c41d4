//! Turns the decisions of [`LevelRules`] on levels and scales into steps, which differ between the schemes.

mod bfv;
mod bgv;
mod ckks;

use sotto_circuits::{CircuitError, Encrypted, Outline, Table};
use sotto_program::{Register, Step};
use sotto_rlwe::{
    Ciphertext, EncodeError, EvalError, EvaluationKeys, Evaluator, LevelRules, Params, PlainSize, Plaintext,
    Scheme, Shape,
};

/// The rules of a scheme for steps: how levels and scales are matched, how constants are encoded, and the steps that
/// only one scheme has.
///
/// ```
/// use sotto_program::{Register, Step};
/// use sotto_rlwe::{Bgv, Ckks};
/// use sotto_runtime::StepRules;
///
/// // From level 3 to level 1: BGV divides by one prime after the other, CKKS multiplies by a constant.
/// let (of, level) = (Register(0), 1);
/// assert_eq!(Bgv::towards(of, level), Step::DropModulus { of, count: 1 });
/// assert_eq!(Ckks::towards(of, level), Step::MatchScale { of, level: 1 });
/// ```
pub trait StepRules: LevelRules {
    /// Returns the next step that brings a register towards a lower level without changing its message.
    fn towards(of: Register, _level: usize) -> Step {
        Step::DropModulus { of, count: 1 }
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
    /// Those of [`StepRules::follow_table`].
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
    /// Those of [`StepRules::follow_sign`].
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

/// Implements the look-ups of [`StepRules`] for a scheme of whole numbers.
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
