//! Secret keys.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sotto::{DeviceSecret, secure_rng};
use sotto_decrypt::Decryptor;
use sotto_keys::{ImportedKeyError, KeyFile, Protection, SecretKey as RustKey};
use sotto_ring::{Poly, Seed, SmallPoly};
use sotto_rlwe::{Params, Scheme, map_any, of_any_scheme, try_map_any, try_map_same, with_any};
use sotto_wire::AnyCiphertext;
use zeroize::Zeroizing;

use super::ciphertext::Ciphertext;
use super::error::{OrRefuse as _, mixed, other_parameters};
use super::keys::{EvaluationKeys, PublicKey};
use super::parameters::Parameters;
use super::plaintext::Plaintext;
use super::scheme::AnyParams;
use super::small::{Small, small};
use crate::error::file;

type AnyKey = of_any_scheme!(RustKey);

/// A secret key. It shows nothing, has no bytes and cannot be pickled; `save` writes a key file.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct SecretKey {
    pub(super) key: AnyKey,
    /// The device secret that the key was derived from; None in a key of given coefficients.
    device: Option<DeviceSecret>,
}

fn imported<S: Scheme>(params: &Params<S>, secret: &SmallPoly) -> Result<RustKey<S>, ImportedKeyError> {
    let limbs = params.key_limbs();
    let residues = Poly::from_signed(params.ring(), limbs, secret.coefficients()).into_eval();
    RustKey::from_unprotected_residues(params, &Zeroizing::new(residues))
}

#[pymethods]
impl SecretKey {
    /// Draws a key from the system's randomness.
    #[staticmethod]
    fn generate(py: Python<'_>, parameters: &Parameters) -> PyResult<Self> {
        let device = DeviceSecret::generate(&mut secure_rng().or_refuse(py)?);
        Ok(Self::derived(py, parameters, device))
    }

    /// Reads a key file that `save` or the command line wrote: the same file gives keys for any parameters.
    #[staticmethod]
    #[pyo3(signature = (parameters, path, passphrase=None))]
    fn load(
        py: Python<'_>,
        parameters: &Parameters,
        path: PathBuf,
        passphrase: Option<&str>,
    ) -> PyResult<Self> {
        let bytes: Zeroizing<[u8; 32]> =
            py.detach(|| KeyFile::Device.read(&path, passphrase)).map_err(|error| file(&error))?;
        Ok(Self::derived(py, parameters, DeviceSecret::from_bytes(&bytes)))
    }

    /// Makes a key of n coefficients, each −1, 0 or 1, that another program drew: for known answers and exchange.
    ///
    /// Raises `WrongKeys` if the noise bounds of the parameters do not hold for the key.
    #[staticmethod]
    fn from_unprotected_coefficients(
        py: Python<'_>,
        parameters: &Parameters,
        coefficients: Small<'_>,
    ) -> PyResult<Self> {
        let secret = small(&coefficients, parameters.spec().degree, 1)?;
        let key =
            py.detach(|| try_map_any!(&parameters.0, params => imported(params, &secret))).or_refuse(py)?;
        Ok(Self { key, device: None })
    }

    /// Writes the key to a new file that its owner alone can read. An existing file is never overwritten.
    #[pyo3(signature = (path, passphrase=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&str>) -> PyResult<()> {
        let mut rng = secure_rng().or_refuse(py)?;
        let Some(device) = &self.device else {
            return Err(PyTypeError::new_err(
                "a key of given coefficients has no key file: keep the coefficients",
            ));
        };
        let protection = passphrase.map_or(Protection::FileMode, Protection::Passphrase);
        py.detach(|| KeyFile::Device.write(&path, device.expose_secret_bytes(), &protection, &mut rng))
            .map_err(|error| file(&error))
    }

    /// The parameter set, with its scheme.
    #[getter]
    fn parameters(&self) -> Parameters {
        Parameters(self.params())
    }

    /// The public name of the key, in hexadecimal.
    #[getter]
    fn key_id(&self) -> String {
        with_any!(&self.key, key => key.id().to_string())
    }

    /// Makes a public key with fresh randomness.
    fn public_key(&self, py: Python<'_>) -> PyResult<PublicKey> {
        let mut rng = secure_rng().or_refuse(py)?;
        Ok(PublicKey(py.detach(|| map_any!(&self.key, key => key.public_key(&mut rng)))))
    }

    /// Makes a public key with given randomness, for known answers: 24 bytes, and n coefficients from −21 to 21.
    fn public_key_with(&self, py: Python<'_>, seed: [u8; 24], error: Small<'_>) -> PyResult<PublicKey> {
        let error = small(&error, self.parameters().spec().degree, 21)?;
        Ok(PublicKey(py.detach(|| map_any!(&self.key, key => key.public_key_with(Seed(seed), &error)))))
    }

    /// Makes evaluation keys: for products, and for rotations by each of `steps` (0: the row swap of BFV and BGV, the
    /// conjugation of CKKS).
    #[pyo3(signature = (*, relinearisation=true, steps=Vec::new()))]
    fn evaluation_keys(
        &self,
        py: Python<'_>,
        relinearisation: bool,
        steps: Vec<i32>,
    ) -> PyResult<EvaluationKeys> {
        let mut rng = secure_rng().or_refuse(py)?;
        let made = py.detach(
            || try_map_any!(&self.key, key => key.evaluation_keys(relinearisation, &steps, &mut rng)),
        );
        made.or_refuse(py).map(EvaluationKeys)
    }

    /// Encrypts at the top level, with a seed in place of the mask.
    fn encrypt(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Ciphertext> {
        let mut rng = secure_rng().or_refuse(py)?;
        self.belongs(py, plaintext)?;
        let encrypted = py.detach(|| {
            try_map_same!((&self.key, &plaintext.0), (key, message) =>
                key.encrypt(message, &mut rng).map(|seeded| AnyCiphertext::Seeded(seeded).into()))
        });
        encrypted.ok_or_else(|| mixed(py))?.or_refuse(py).map(Ciphertext::new)
    }

    /// Encrypts with given randomness, for known answers: 24 bytes, and n coefficients from −21 to 21. Never use a seed
    /// twice: two ciphertexts under one mask reveal the difference of their messages.
    fn encrypt_with(
        &self,
        py: Python<'_>,
        plaintext: &Plaintext,
        seed: [u8; 24],
        error: Small<'_>,
    ) -> PyResult<Ciphertext> {
        self.belongs(py, plaintext)?;
        let error = small(&error, self.parameters().spec().degree, 21)?;
        let encrypted = py.detach(|| {
            try_map_same!((&self.key, &plaintext.0), (key, message) =>
                key.encrypt_with(message, Seed(seed), &error).map(|seeded| AnyCiphertext::Seeded(seeded).into()))
        });
        encrypted.ok_or_else(|| mixed(py))?.or_refuse(py).map(Ciphertext::new)
    }

    /// Decrypts. Right with failure probability at most 2^-128, given the noise bound.
    ///
    /// Values of CKKS carry noise that depends on the key: share them rounded only. Raises `NotTrusted` for a
    /// ciphertext whose noise bound is a claim: see `Ciphertext.from_bytes`.
    fn decrypt(&self, py: Python<'_>, ciphertext: &Ciphertext) -> PyResult<Plaintext> {
        let body = ciphertext.trusted(py)?;
        let opened = py.detach(
            || try_map_same!((&self.key, body), (key, body) => Decryptor::new(key).decrypt(body.whole())),
        );
        opened.ok_or_else(|| mixed(py))?.or_refuse(py).map(Plaintext)
    }

    /// Measures log2 of the noise that `shape.noise_bits` bounds. Never send it anywhere: it would be a decryption
    /// oracle. CKKS needs `expected`, the exact message at the ciphertext's level.
    #[pyo3(signature = (ciphertext, expected=None))]
    fn measure_noise_bits(
        &self,
        py: Python<'_>,
        ciphertext: &Ciphertext,
        expected: Option<&Plaintext>,
    ) -> PyResult<f64> {
        self.measure(py, ciphertext, expected).map(|(noise, _)| noise)
    }

    /// Measures the bits between the noise and the decryption limit: like `measure_noise_bits`.
    #[pyo3(signature = (ciphertext, expected=None))]
    fn measure_room_bits(
        &self,
        py: Python<'_>,
        ciphertext: &Ciphertext,
        expected: Option<&Plaintext>,
    ) -> PyResult<f64> {
        self.measure(py, ciphertext, expected).map(|(_, room)| room)
    }

    fn __repr__(&self) -> String {
        format!("SecretKey({})", self.key_id())
    }
}

impl SecretKey {
    fn derived(py: Python<'_>, parameters: &Parameters, device: DeviceSecret) -> Self {
        let key = py.detach(|| map_any!(&parameters.0, params => RustKey::derive(&device, params)));
        Self { key, device: Some(device) }
    }

    pub(super) fn params(&self) -> AnyParams {
        map_any!(&self.key, key => key.params().clone())
    }

    fn belongs(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<()> {
        if plaintext.is_of(&self.params()) { Ok(()) } else { Err(other_parameters(py)) }
    }
}
