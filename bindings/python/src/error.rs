//! Errors of the crate as the exceptions of `sotto._errors`.

use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sotto::Error;
use sotto_circuits::CircuitError;
use sotto_decrypt::DecryptError;
use sotto_rlwe::EvalError;

/// Turns an error into an exception with the same text.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let name = match error {
        Error::Value { .. } | Error::Bound(_) | Error::Range(_) | Error::Wraps { .. } => "OutOfRange",
        Error::OutsideRange { .. } | Error::NotInTable { .. } | Error::PublicWhole { .. } => "OutOfRange",
        Error::Count { .. } | Error::Length { .. } => "ShapeMismatch",
        Error::Depth { .. } | Error::NoParameters { .. } => "OutOfDepth",
        Error::Constant { .. } => "ConstantTooLarge",
        Error::Circuit(CircuitError::Eval(EvalError::Transparent)) => "PublicZero",
        Error::Mixed | Error::NoKeys => "WrongKeys",
        Error::Circuit(CircuitError::Eval(EvalError::KeyMismatch { .. })) => "WrongKeys",
        Error::Decrypt(DecryptError::Key { .. } | DecryptError::Parameters) => "WrongKeys",
        Error::Claimed | Error::Unplanned(_) => "NotTrusted",
        Error::Bytes(_) => "BadBytes",
        _ => "SottoError",
    };
    named(py, name, message(error))
}

/// Returns the text of an error, with the way out that Python has.
fn message(error: &Error) -> String {
    match error {
        Error::Value { index, within } if *within == f64::MAX => {
            format!(
                "value number {index} of the operand, or the bound on the result, is not a finite number: leave the value out, or \
                 encrypt in a larger unit, with a smaller range"
            )
        }
        Error::Value { index, within } => format!(
            "value number {index} is not a number within ±{}: declare range=(lowest, highest), or leave the value out",
            sotto::shown(*within)
        ),
        Error::OutsideRange { index, first, last } => format!(
            "value number {index} is outside {first} to {last}, the range of this owner's whole numbers: make a wider one \
             with Owner.new(integer_range=(lowest, highest)), or leave the value out"
        ),
        Error::Wraps { magnitude, limit } => format!(
            "a result may be as large as {0:.1e}, and these keys tell whole numbers apart up to ±{limit}: make \
             them with Owner.new(results_within={0:.1e})",
            sotto::rounded_up(*magnitude)
        ),
        Error::NoKeys => {
            "this array has no keys to compute with: evaluator.attach(x) or owner.attach(x) gives it some"
                .into()
        }
        Error::Mixed | Error::Circuit(CircuitError::Eval(EvalError::KeyMismatch { .. })) => {
            "the arrays are of different owners, or one is part of a plan: use one owner for both".into()
        }
        Error::Decrypt(DecryptError::Key { expected, found }) => {
            format!(
                "the array is encrypted for key {found}, and this owner has key {expected}: ask its own owner"
            )
        }
        Error::Decrypt(DecryptError::Parameters) => {
            "the array was encrypted with other parameters than those of this owner: ask its own owner".into()
        }
        Error::Constant { times } => format!(
            "a public number is more than {times:.0} times as large as the encrypted values may be, and this function needs \
             both in one slot: add the number afterwards, or declare a wider range=(lowest, highest) when you encrypt"
        ),
        Error::Circuit(CircuitError::Eval(EvalError::Transparent)) => {
            "the array is zero whatever the inputs are, and its ciphertext hides nothing (x - x): send x * 0 in its place"
                .into()
        }
        // The way out, a depth, is added in Python, beside the lines of the program.
        Error::Depth { reason, .. } => without_degree(reason).into(),
        Error::PublicWhole { magnitude } => format!(
            "whole numbers that follow from public ones alone are exact up to 2^53, and these may be as large as {:.1e}: compute \
             them with NumPy, and add them to the decrypted answer",
            sotto::rounded_up(*magnitude)
        ),
        Error::DryRun => "a plan follows a computation without values, so there is nothing to decrypt or to send: do that with \
                          the answer, outside of the program"
            .into(),
        Error::Unplanned(difference) => format!(
            "the answer is not the one that was planned: {difference}; compute it with evaluator.run(program, …), and plan the \
             same program, on inputs of the same shapes and ranges; if both hold, do not act on it"
        ),
        other => other.to_string(),
    }
}

/// Returns a reason without the degree that would do: depth and gap choose it.
fn without_degree(reason: &str) -> &str {
    [", or n = ", ": n = "].iter().fold(reason, |text, mark| text.split(mark).next().unwrap_or(text))
}

/// Returns an exception of `sotto._errors`.
pub(crate) fn named(py: Python<'_>, name: &str, message: String) -> PyErr {
    static BASE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    // The base class is imported first, so that a broken installation is reported as such.
    let base = BASE.import(py, "sotto._errors", "SottoError");
    let class = base.and_then(|_| py.import("sotto._errors")).and_then(|module| module.getattr(name));
    match class.and_then(|class| class.call1((message,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Returns the exception for operands of two schemes.
pub(crate) fn mixed_kinds() -> PyErr {
    PyTypeError::new_err(
        "encrypted whole numbers and encrypted real numbers do not go together: encrypt both as floats, \
         or both as integers",
    )
}

/// Returns the exception for a key file.
pub(crate) fn file(error: &sotto_keys::KeyFileError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// Unwraps results of the crate.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for sotto::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error))
    }
}
