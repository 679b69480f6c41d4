//! Errors of the crate as the exceptions of `sotto._errors`.

use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sotto::Error;
use sotto::circuits::CircuitError;
use sotto::rlwe::EvalError;

/// Turns an error into an exception with the same text.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let name = match error {
        Error::Value { .. } | Error::Bound(_) | Error::Range(_) | Error::Wraps { .. } => "OutOfRange",
        Error::Count { .. } | Error::Length { .. } => "ShapeMismatch",
        Error::Depth { .. } | Error::NoParameters { .. } => "OutOfDepth",
        Error::Mixed | Error::NoKeys => "WrongKeys",
        Error::Circuit(CircuitError::Eval(EvalError::KeyMismatch { .. })) => "WrongKeys",
        Error::Claimed | Error::Unplanned(_) => "NotTrusted",
        Error::Bytes(_) => "BadBytes",
        _ => "SottoError",
    };
    named(py, name, error.to_string())
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
pub(crate) fn file(error: &sotto::keys::KeyFileError) -> PyErr {
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
