//! Secret and public keys.

use std::path::PathBuf;

use numpy::{IntoPyArray as _, PyArray1, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyTuple, PyType};
use sotto::{Bfv, Ckks, DeviceSecret};

use crate::array::Array;
use crate::call::{detached, watched};
use crate::error::{OrRaise as _, mixed_kinds};
use crate::flags::{FlagPlan, Flags, numbers};
use crate::packed::Packed;
use crate::plan::{Plan, Plans};
use crate::schemes::{Context, Schemes, each};
use crate::secret_file::write_secret;
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

/// A contiguous vector of numbers within a declared range, to encrypt without a line of Python.
struct Row<'py> {
    values: Plain<'py>,
    bound: f64,
}

impl<'py> Row<'py> {
    /// Checks an array and a range: None for all that the general case converts, explains or refuses.
    fn of(values: &Bound<'py, PyAny>, range: &Bound<'py, PyAny>, largest: f64) -> PyResult<Option<Self>> {
        if !values.is_exact_instance_of::<PyUntypedArray>() {
            return Ok(None);
        }
        let (Ok(values), Some((least, most))) = (values.extract::<Plain<'_>>(), pair(range)) else {
            return Ok(None);
        };
        let bound = least.abs().max(most.abs());
        let within = least <= most && bound > 0.0 && bound <= largest;
        if !within || values.len_if_contiguous().is_none_or(|count| count == 0) {
            return Ok(None);
        }
        // A range of both signs is the bound alone, which encryption checks.
        let inside = -least == most
            || match &values {
                Plain::Reals(row) => all_reals(row.as_slice()?, least, most),
                Plain::Integers(row) => {
                    all_integers(row.as_slice()?, least.ceil() as i64, most.floor() as i64)
                }
            };
        Ok(inside.then_some(Self { values, bound }))
    }
}

/// True if all values are within least..=most. Without branches, so that several are compared at a time.
fn all_reals(values: &[f64], least: f64, most: f64) -> bool {
    values.iter().fold(true, |so_far, &value| so_far & (least <= value) & (value <= most))
}

/// Like [`all_reals`], by signs: processors subtract more whole numbers at a time than they compare. A difference that
/// wraps leaves the sign to the other one, because least ≤ most.
fn all_integers(values: &[i64], least: i64, most: i64) -> bool {
    let signs = |value: i64| value.wrapping_sub(least) | most.wrapping_sub(value);
    least <= most && values.iter().fold(0, |so_far, &value| so_far | signs(value)) >= 0
}

/// Reads a tuple of two numbers.
fn pair(range: &Bound<'_, PyAny>) -> Option<(f64, f64)> {
    let range = range.cast::<PyTuple>().ok().filter(|range| range.len() == 2)?;
    let end = |index| -> Option<f64> {
        let end = range.get_item(index).ok()?;
        let number = end.is_instance_of::<PyFloat>() || end.is_instance_of::<PyInt>();
        number.then(|| end.extract().ok()).flatten()
    };
    Some((end(0)?, end(1)?))
}

/// Encrypts a row with either kind of keys: None for values outside, which the general case names.
macro_rules! encrypted_row {
    ($py:ident, $kinds:ident, $keys:expr, $row:expr) => {{
        let Some(Row { values, bound }) = $row else { return Ok(None) };
        let made = match ($keys, &values) {
            ($kinds::Reals(keys), Plain::Reals(values)) => {
                let values = contiguous(values)?;
                watched($py, || keys.encrypt_within(values, bound).map(Values::Reals))?
            }
            ($kinds::Integers(keys), Plain::Integers(values)) => {
                let values = contiguous(values)?;
                watched($py, || keys.encrypt_within(values, bound).map(Values::Integers))?
            }
            _ => return Ok(None),
        };
        match made {
            Err(sotto::Error::Value { .. } | sotto::Error::OutsideRange { .. }) => Ok(None),
            made => made.map(|values| Some(Vector(values))).or_raise($py),
        }
    }};
}

/// Decrypted values and a bound on their error.
type Opened<'py> = (Bound<'py, PyAny>, f64);

#[pymethods]
impl Secret {
    /// Encrypts float64 or int64 values, each within ±bound.
    fn encrypt(&self, py: Python<'_>, values: Plain<'_>, bound: f64) -> PyResult<Vector> {
        encrypted!(py, SecretKeys, &self.0, values, bound)
    }

    /// Encrypts a contiguous array of float64 or int64 values within (lowest, highest), of which neither is beyond
    /// ±`largest`. None for anything else.
    fn encrypt_row(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        range: &Bound<'_, PyAny>,
        largest: f64,
    ) -> PyResult<Option<Vector>> {
        encrypted_row!(py, SecretKeys, &self.0, Row::of(values, range, largest)?)
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

    /// Decrypts an array that is one vector, with the keys of its scheme, as an object of `kind`, the class `Decrypted`.
    /// None for arrays with a resolution or a last step, and for those that decryption refuses: the general case says why.
    fn decrypt_row<'py>(
        &self,
        py: Python<'py>,
        array: &Bound<'py, Array>,
        integers: Option<&Self>,
        kind: &Bound<'py, PyType>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(vector) = array.get().row() else { return Ok(None) };
        let keys = match vector {
            Values::Reals(_) => Some(self),
            Values::Integers(_) => integers,
        };
        let (values, bound) = match (keys.map(|keys| &keys.0), vector) {
            (Some(SecretKeys::Reals(secret)), Values::Reals(vector)) => {
                let Ok(answer) = watched(py, || secret.decrypt(vector))? else { return Ok(None) };
                opened(py, answer)
            }
            (Some(SecretKeys::Integers(secret)), Values::Integers(vector)) => {
                let Ok(answer) = watched(py, || secret.decrypt(vector))? else { return Ok(None) };
                opened(py, answer)
            }
            _ => return Ok(None),
        };
        let decrypted = values.call_method1(intern!(py, "view"), (kind,))?;
        decrypted.setattr(intern!(py, "bound"), bound)?;
        Ok(Some(decrypted))
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

    /// Decrypts flags that were computed in this process: 1 for yes, 0 for no, -1 for undecided.
    fn decrypt_flags<'py>(&self, py: Python<'py>, flags: &Flags) -> PyResult<Bound<'py, PyArray1<i8>>> {
        match &self.0 {
            SecretKeys::Reals(secret) => {
                Ok(numbers(py, detached(py, || secret.decrypt_flags(&flags.flags))?))
            }
            SecretKeys::Integers(_) => Err(mixed_kinds()),
        }
    }

    /// Decrypts flags that came as bytes, by the plan of their computation.
    fn decrypt_flags_answer<'py>(
        &self,
        py: Python<'py>,
        bytes: &[u8],
        plan: &FlagPlan,
    ) -> PyResult<Bound<'py, PyArray1<i8>>> {
        match &self.0 {
            SecretKeys::Reals(secret) => {
                Ok(numbers(py, detached(py, || secret.decrypt_flags_answer(bytes, &plan.0))?))
            }
            SecretKeys::Integers(_) => Err(mixed_kinds()),
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

    /// Reads a vector to compute on from a part of the bytes.
    #[pyo3(signature = (bytes, start=0, stop=None))]
    fn read(&self, py: Python<'_>, bytes: &[u8], start: usize, stop: Option<usize>) -> PyResult<Vector> {
        let part = bytes.get(start..stop.unwrap_or(bytes.len()));
        let bytes = part.ok_or_else(|| PyValueError::new_err("the part lies beyond the bytes"))?;
        let read = detached(py, || match &self.0 {
            PublicKeys::Reals(public) => public.read(bytes).map(Values::Reals),
            PublicKeys::Integers(public) => public.read(bytes).map(Values::Integers),
        });
        read.map(Vector)
    }

    /// Reads a vector to compute on from the bytes of an array that is one vector, with the keys of its scheme. None for
    /// other bytes, which the general case reads or refuses.
    #[staticmethod]
    fn read_row(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        reals: &Self,
        integers: Option<&Self>,
    ) -> PyResult<Option<Vector>> {
        let data = data.cast::<PyBytes>().ok();
        let Some(Packed { length, is_real, frame }) = data.and_then(|data| Packed::of(data.as_bytes()))
        else {
            return Ok(None);
        };
        let keys = if is_real { Some(reals) } else { integers };
        let read = match keys.map(|keys| &keys.0) {
            Some(PublicKeys::Reals(public)) if is_real => {
                watched(py, || public.read(frame).map(Values::Reals))?
            }
            Some(PublicKeys::Integers(public)) if !is_real => {
                watched(py, || public.read(frame).map(Values::Integers))?
            }
            _ => return Ok(None),
        };
        Ok(read.ok().map(Vector).filter(|vector| vector.__len__() == length))
    }

    /// The parameters.
    #[getter]
    fn context(&self) -> Context {
        Context(match &self.0 {
            PublicKeys::Reals(public) => Schemes::Reals(public.context().clone()),
            PublicKeys::Integers(public) => Schemes::Integers(public.context().clone()),
        })
    }

    /// True if plans hold for inputs that were encrypted with the public key.
    #[getter]
    fn takes_inputs(&self) -> bool {
        each!(PublicKeys, &self.0, public => public.context().takes_public_inputs())
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
