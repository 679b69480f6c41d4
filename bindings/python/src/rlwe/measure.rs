//! Measured noise. Needs the secret key.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey as RustKey;
use sotto_rlwe::{Log2, Noise, NoiseRules as _, Plaintext as RustPlaintext, Scheme, with_same};
use zeroize::Zeroizing;

use super::ciphertext::{Body, Ciphertext};
use super::error::{mixed, other_parameters};
use super::plaintext::Plaintext;
use super::secret::SecretKey;
use crate::error::named;

impl SecretKey {
    /// Returns log2 of the noise, and the bits between it and the decryption limit.
    pub(super) fn measure(
        &self,
        py: Python<'_>,
        ciphertext: &Ciphertext,
        expected: Option<&Plaintext>,
    ) -> PyResult<(f64, f64)> {
        if self.params() != ciphertext.params() {
            return Err(other_parameters(py));
        }
        let measured = match expected {
            // BFV and BGV know the message: it is decrypted.
            None => with_same!((&self.key, &ciphertext.body), (key, body) => measured(py, key, body, None)),
            Some(Plaintext(message)) => with_same!(
                (&self.key, &ciphertext.body, message),
                (key, body, message) => measured(py, key, body, Some(message))
            ),
        };
        measured.ok_or_else(|| mixed(py))?
    }
}

/// Measures noise and room.
fn measured<S: Scheme>(
    py: Python<'_>,
    key: &RustKey<S>,
    body: &Body<S>,
    message: Option<&RustPlaintext<S>>,
) -> PyResult<(f64, f64)> {
    let message = if S::EXACT { None } else { Some(scaled(py, body, message)?) };
    if body.whole().key() != key.id() {
        return Err(named(py, "WrongKeys", "the ciphertext is under another key".into()));
    }
    let noise = py.detach(|| {
        Decryptor::new(key).measure_error_bits(body.whole(), message.as_ref().map(|m| m.as_slice()))
    });
    Ok((noise, room(body, noise)))
}

/// Returns the coefficients of the expected message of a ciphertext of reals.
fn scaled<S: Scheme>(
    py: Python<'_>,
    body: &Body<S>,
    message: Option<&RustPlaintext<S>>,
) -> PyResult<Zeroizing<Vec<i64>>> {
    let none = || PyTypeError::new_err("CKKS needs the expected message: give expected=encoder.encode(…)");
    let (message, shape) = (message.ok_or_else(none)?, body.whole().shape());
    if (message.level(), message.scaling()) != (shape.level, shape.scaling) {
        let text = "the expected message is encoded for another level or scale than the ciphertext's";
        return Err(named(py, "WrongLevel", text.into()));
    }
    let mut coefficients = Zeroizing::new(message.coefficients().to_vec());
    coefficients.resize(message.params().degree(), 0);
    Ok(coefficients)
}

/// Returns the bits between the measured error and the decryption limit.
fn room<S: Scheme>(body: &Body<S>, error: f64) -> f64 {
    let shape = body.whole().shape();
    let noise = Noise { message: shape.noise.message, error: Log2(error) };
    S::Noise::room(body.whole().params(), shape.level, noise)
}
