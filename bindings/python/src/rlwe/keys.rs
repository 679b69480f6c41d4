//! Public keys and evaluation keys.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sotto::secure_rng;
use sotto_ring::SmallPoly;
use sotto_rlwe::{EvaluationKeys as RustKeys, Scheme, map_any, try_map_any, try_map_same, with_any};
use sotto_wire::{
    EvaluationKeyCounts, WireError, read_evaluation_keys, read_public_key, write_evaluation_keys,
    write_public_key,
};

use super::ciphertext::Ciphertext;
use super::error::{OrRefuse as _, mixed, other_parameters};
use super::parameters::Parameters;
use super::plaintext::Plaintext;
use super::scheme::{AnyEvaluationKeys, AnyPublicKey};
use super::small::{Small, small};

/// A key with which anybody encrypts. It has no secret in it.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct PublicKey(pub(crate) AnyPublicKey);

/// Keys with which anybody relinearises and rotates. They have no secret in them.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct EvaluationKeys(pub(crate) AnyEvaluationKeys);

#[pymethods]
impl PublicKey {
    /// Reads the bytes of `to_bytes`.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, parameters: &Parameters, data: &[u8]) -> PyResult<Self> {
        py.detach(|| try_map_any!(&parameters.0, params => read_public_key(data, params)))
            .or_refuse(py)
            .map(Self)
    }

    /// Writes the key.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| with_any!(&self.0, key => write_public_key(key)));
        PyBytes::new(py, &bytes)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    /// The parameter set, with its scheme.
    #[getter]
    fn parameters(&self) -> Parameters {
        Parameters(map_any!(&self.0, key => key.params().clone()))
    }

    /// The public name of the secret key, in hexadecimal.
    #[getter]
    fn key_id(&self) -> String {
        with_any!(&self.0, key => key.key().to_string())
    }

    /// Encrypts at the top level.
    fn encrypt(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Ciphertext> {
        let mut rng = secure_rng().or_refuse(py)?;
        if !plaintext.is_of(&self.parameters().0) {
            return Err(other_parameters(py));
        }
        let encrypted = py.detach(|| {
            try_map_same!((&self.0, &plaintext.0), (key, message) => key.encrypt(message, &mut rng).map(Into::into))
        });
        encrypted.ok_or_else(|| mixed(py))?.or_refuse(py).map(Ciphertext::new)
    }

    /// Encrypts with given randomness, for known answers: n coefficients each, `u` from −1 to 1, `e0` and `e1` from −21
    /// to 21. Never use the same randomness twice.
    fn encrypt_with(
        &self,
        py: Python<'_>,
        plaintext: &Plaintext,
        u: Small<'_>,
        e0: Small<'_>,
        e1: Small<'_>,
    ) -> PyResult<Ciphertext> {
        if !plaintext.is_of(&self.parameters().0) {
            return Err(other_parameters(py));
        }
        let degree = with_any!(&self.0, key => key.params().degree());
        let u: SmallPoly = small(&u, degree, 1)?;
        let (e0, e1) = (small(&e0, degree, 21)?, small(&e1, degree, 21)?);
        let encrypted = py.detach(|| {
            try_map_same!((&self.0, &plaintext.0), (key, message) =>
                key.encrypt_with(message, &u, &e0, &e1).map(Into::into))
        });
        encrypted.ok_or_else(|| mixed(py))?.or_refuse(py).map(Ciphertext::new)
    }

    fn __repr__(&self) -> String {
        format!("PublicKey({})", self.key_id())
    }
}

#[pymethods]
impl EvaluationKeys {
    /// Reads the bytes of `to_bytes`.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, parameters: &Parameters, data: &[u8]) -> PyResult<Self> {
        /// Reads at most as many keys as there are automorphisms. The length of the bytes bounds allocations.
        fn read<S: Scheme>(data: &[u8], params: &sotto_rlwe::Params<S>) -> Result<RustKeys<S>, WireError> {
            let most = EvaluationKeyCounts { relinearisation: true, galois: params.degree(), transfers: 0 };
            read_evaluation_keys(data, params, most)
        }
        py.detach(|| try_map_any!(&parameters.0, params => read(data, params))).or_refuse(py).map(Self)
    }

    /// Writes the keys. Seeds stand for their random halves.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| with_any!(&self.0, keys => write_evaluation_keys(keys)));
        PyBytes::new(py, &bytes)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    /// The parameter set, with its scheme.
    #[getter]
    fn parameters(&self) -> Parameters {
        Parameters(map_any!(&self.0, keys => keys.params.clone()))
    }

    /// The public name of the secret key, in hexadecimal.
    #[getter]
    fn key_id(&self) -> String {
        with_any!(&self.0, keys => keys.key.to_string())
    }

    /// True if products can be relinearised.
    #[getter]
    fn can_relinearise(&self) -> bool {
        with_any!(&self.0, keys => keys.relinearisation.is_some())
    }

    /// Galois elements of the rotations, ascending.
    #[getter]
    fn galois_elements(&self) -> Vec<usize> {
        with_any!(&self.0, keys => keys.galois.iter().map(|(element, _)| element).collect())
    }

    /// Returns true if there is a key for a rotation by `step`; 0 is the row swap or the conjugation.
    fn can_rotate(&self, step: i32) -> bool {
        with_any!(&self.0, keys => keys.can_rotate(step))
    }

    fn __repr__(&self) -> String {
        let products = if self.can_relinearise() { "products, " } else { "" };
        format!("EvaluationKeys({}, {products}{} rotations)", self.key_id(), self.galois_elements().len())
    }
}
