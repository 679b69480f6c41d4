//! Key files of secrets.

use std::path::Path;

use pyo3::prelude::*;
use sotto::{DeviceSecret, secure_rng};
use sotto_keys::{KeyFile, Protection};

use crate::error::{OrRaise as _, file};

/// Writes a device secret to a new file with mode 0600.
pub(crate) fn write_secret(
    secret: &DeviceSecret,
    path: &Path,
    passphrase: Option<&str>,
    py: Python<'_>,
) -> PyResult<()> {
    let mut rng = secure_rng().map_err(Into::into).or_raise(py)?;
    let protection = passphrase.map_or(Protection::FileMode, Protection::Passphrase);
    let bytes = secret.expose_secret_bytes();
    py.detach(|| KeyFile::Device.write(path, bytes, &protection, &mut rng)).map_err(|error| file(&error))
}
