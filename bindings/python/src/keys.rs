//! Secret and public keys.

use std::path::PathBuf;

use numpy::IntoPyArray as _;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sotto::{Bfv, Ckks, DeviceSecret};

use crate::call::detached;
use crate::context::{Context, Schemes, each, write_secret};
use crate::error::mixed_kinds;
use crate::plan::{Plan, Plans};
use crate::vector::{Plain, Values, Vector, contiguous};

pub(crate) enum SecretKeys {
    Reals(sotto::Secret<Ckks>),
    Integers(sotto::Secret<Bfv>),
}

pub(crate) enum PublicKeys {
    Reals(sotto::Public<Ckks>),
    Integers(sotto::Public<Bfv>),
}

/// A secret key. It has no bytes in Python and cannot be pickled; `save` writes a key file.
#[pyclass(frozen, module = "sotto._native")]
pub(crate) struct Secret(pub(crate) SecretKeys);

/// The keys of a party that computes: public key and evaluation keys.
#[pyclass(frozen, module = "sotto._native")]
pub(crate) struct Public(pub(crate) PublicKeys);

impl Secret {
    pub(crate) fn device(&self) -> DeviceSecret {
        let bytes = each!(SecretKeys, &self.0, secret => secret.device_secret().expose_secret_bytes());
        DeviceSecret::from_bytes(bytes)
    }
}

/// Encrypts with either kind of keys.
macro_rules! encrypted {
    ($py:ident, $kinds:ident, $keys:expr, $values:ident, $bound:ident) => {
        match ($keys, &$values) {
            ($kinds::Reals(keys), Plain::Reals(values)) => {
                let values = contiguous(values)?;
                detached($py, || keys.encrypt_within(values, $bound)).map(Values::Reals)
            }
            ($kinds::Integers(keys), Plain::Integers(values)) => {
                let values = contiguous(values)?;
                detached($py, || keys.encrypt_within(values, $bound)).map(Values::Integers)
            }
            _ => Err(mixed_kinds()),
        }
        .map(Vector)
    };
}

/// Decrypted values and a bound on their error.
type Opened<'py> = (Bound<'py, PyAny>, f64);

#[pymethods]
impl Secret {
    /// Encrypts float64 or int64 values, each within ±bound.
    fn encrypt(&self, py: Python<'_>, values: Plain<'_>, bound: f64) -> PyResult<Vector> {
        encrypted!(py, SecretKeys, &self.0, values, bound)
    }

    /// Decrypts a vector that was computed in this process.
    fn decrypt<'py>(&self, py: Python<'py>, vector: &Vector) -> PyResult<Opened<'py>> {
        match (&self.0, &vector.0) {
            (SecretKeys::Reals(secret), Values::Reals(vector)) => {
                Ok(opened(py, detached(py, || secret.decrypt(vector))?))
            }
            (SecretKeys::Integers(secret), Values::Integers(vector)) => {
                Ok(opened(py, detached(py, || secret.decrypt(vector))?))
            }
            _ => Err(mixed_kinds()),
        }
    }

    /// Decrypts a vector that came as bytes, by the plan of its computation.
    fn decrypt_answer<'py>(&self, py: Python<'py>, bytes: &[u8], plan: &Plan) -> PyResult<Opened<'py>> {
        match (&self.0, &plan.0) {
            (SecretKeys::Reals(secret), Plans::Reals(plan)) => {
                Ok(opened(py, detached(py, || secret.decrypt_answer(bytes, plan))?))
            }
            (SecretKeys::Integers(secret), Plans::Integers(plan)) => {
                Ok(opened(py, detached(py, || secret.decrypt_answer(bytes, plan))?))
            }
            _ => Err(mixed_kinds()),
        }
    }

    /// Writes the device secret to a new key file, readable by its owner alone.
    #[pyo3(signature = (path, passphrase=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&str>) -> PyResult<()> {
        write_secret(&self.device(), &path, passphrase, py)
    }

    /// The public name of the key.
    #[getter]
    fn id(&self) -> String {
        each!(SecretKeys, &self.0, secret => secret.id().to_string())
    }

    fn __repr__(&self) -> String {
        format!("Secret({})", self.id())
    }
}

fn opened<S: sotto::Arithmetic<Value: numpy::Element>>(
    py: Python<'_>,
    answer: sotto::Answer<S>,
) -> Opened<'_> {
    let bound = answer.bound();
    (answer.into_values().into_pyarray(py).into_any(), bound)
}

#[pymethods]
impl Public {
    /// Reads the bytes of `to_bytes`: of real numbers, or else of whole numbers.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], reals: bool) -> PyResult<Self> {
        let read = detached(py, || {
            if reals {
                sotto::Public::<Ckks>::from_bytes(bytes).map(PublicKeys::Reals)
            } else {
                sotto::Public::<Bfv>::from_bytes(bytes).map(PublicKeys::Integers)
            }
        });
        read.map(Self)
    }

    /// Writes parameters, public key and evaluation keys. No secret.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| each!(PublicKeys, &self.0, public => public.to_bytes()));
        PyBytes::new(py, &bytes)
    }

    /// Encrypts float64 or int64 values, each within ±bound, with the public key.
    fn encrypt(&self, py: Python<'_>, values: Plain<'_>, bound: f64) -> PyResult<Vector> {
        encrypted!(py, PublicKeys, &self.0, values, bound)
    }

    /// Reads a vector to compute on.
    fn read(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<Vector> {
        let read = detached(py, || match &self.0 {
            PublicKeys::Reals(public) => public.read(bytes).map(Values::Reals),
            PublicKeys::Integers(public) => public.read(bytes).map(Values::Integers),
        });
        read.map(Vector)
    }

    /// The parameters.
    #[getter]
    fn context(&self) -> Context {
        Context(match &self.0 {
            PublicKeys::Reals(public) => Schemes::Reals(public.context().clone()),
            PublicKeys::Integers(public) => Schemes::Integers(public.context().clone()),
        })
    }

    /// The public name of the secret key.
    #[getter]
    fn id(&self) -> String {
        each!(PublicKeys, &self.0, public => public.id().to_string())
    }

    fn __repr__(&self) -> String {
        format!("Public({})", self.id())
    }
}
