//! Refusals of the crates below the facade as exceptions of `sotto._errors`.

use std::fmt::Display;

use pyo3::prelude::*;
use sotto::RandomnessUnavailable;
use sotto_decrypt::DecryptError;
use sotto_keys::ImportedKeyError;
use sotto_rlwe::{EncodeError, EvalError, ParameterError, Unexpected};
use sotto_wire::WireError;

use crate::error::named;

/// An error and the name of its exception.
pub(crate) trait Refusal: Display {
    fn exception(&self) -> &'static str;
}

/// Unwraps results, with errors as exceptions of the same text.
pub(crate) trait OrRefuse<T> {
    fn or_refuse(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Refusal> OrRefuse<T> for Result<T, E> {
    fn or_refuse(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| named(py, error.exception(), error.to_string()))
    }
}

/// Returns the exception for objects of different schemes.
pub(crate) fn mixed(py: Python<'_>) -> PyErr {
    named(py, "WrongParameters", "these are of different schemes: make both with the same Parameters".into())
}

/// Returns the exception for objects of different parameters.
pub(crate) fn other_parameters(py: Python<'_>) -> PyErr {
    named(py, "WrongParameters", EvalError::ParameterMismatch.to_string())
}

impl Refusal for ParameterError {
    fn exception(&self) -> &'static str {
        "WrongParameters"
    }
}

impl Refusal for EncodeError {
    fn exception(&self) -> &'static str {
        match self {
            Self::OutOfRange { .. } => "OutOfRange",
            Self::TooMany { .. } | Self::TooManyCoefficients { .. } | Self::Repetition { .. } => {
                "ShapeMismatch"
            }
            Self::NoSlots { .. } => "WrongParameters",
            Self::Level { .. } => "WrongLevel",
        }
    }
}

impl Refusal for EvalError {
    fn exception(&self) -> &'static str {
        match self {
            Self::KeyMismatch { .. } | Self::MissingKey(_) => "WrongKeys",
            Self::ParameterMismatch | Self::NoSpecialPrime | Self::Unsupported { .. } => "WrongParameters",
            Self::Noise { .. } | Self::NoLevel { .. } => "OutOfDepth",
            Self::Magnitude { .. } | Self::Factor { .. } | Self::Step { .. } => "OutOfRange",
            Self::LevelMismatch { .. }
            | Self::ScalingMismatch { .. }
            | Self::Components { .. }
            | Self::ScalePower { .. } => "WrongLevel",
            Self::Encode(error) => error.exception(),
            _ => "SottoError",
        }
    }
}

impl Refusal for DecryptError {
    fn exception(&self) -> &'static str {
        match self {
            Self::Key { .. } => "WrongKeys",
            Self::Parameters => "WrongParameters",
            Self::Noise { .. } => "OutOfDepth",
            Self::TooLarge { .. } => "OutOfRange",
            Self::Decode(error) => error.exception(),
            Self::Places(error) => error.exception(),
        }
    }
}

impl Refusal for ImportedKeyError {
    fn exception(&self) -> &'static str {
        "WrongKeys"
    }
}

impl Refusal for WireError {
    fn exception(&self) -> &'static str {
        match self {
            Self::Parameters { .. } | Self::ParametersRefused(_) => "WrongParameters",
            Self::Key { .. } => "WrongKeys",
            _ => "BadBytes",
        }
    }
}

impl Refusal for Unexpected {
    fn exception(&self) -> &'static str {
        "NotTrusted"
    }
}

impl Refusal for RandomnessUnavailable {
    fn exception(&self) -> &'static str {
        "SottoError"
    }
}
