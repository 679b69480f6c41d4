//! Errors of owners as exceptions, with the text of the command line.

use pyo3::prelude::*;
use sotto_owner::{CloudError, OwnerError};

use crate::error::named;

/// Turns an error into an exception with the same text.
pub(super) fn raised(py: Python<'_>, error: &OwnerError) -> PyErr {
    let name = match error {
        OwnerError::Cloud(CloudError::Away { .. } | CloudError::Tls(_)) => "CloudAway",
        OwnerError::Cloud(_) => "CloudError",
        OwnerError::Lie(_) | OwnerError::WrongAnswer(_) | OwnerError::OtherSums(_) => "NotTrusted",
        other if matches!(other.exit_code(), 4 | 16 | 17) => "QuestionError",
        _ => "PlantError",
    };
    named(py, name, error.to_string())
}
