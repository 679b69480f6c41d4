//! The encoder.

use numpy::{Complex64, IntoPyArray as _};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use sotto_rlwe::{
    EncodeError, OfAnyScheme, Params, Plaintext as RustPlaintext, Scheme, SlotValue, map_any, with_same,
};

use super::arrays::{Numbers, complex, reals, signed, slice};
use super::error::{OrRefuse as _, mixed, other_parameters};
use super::parameters::Parameters;
use super::plaintext::Plaintext;
use super::scheme::AnyParams;
use crate::error::named;

/// Puts numbers into plaintexts and takes them out.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct Encoder(AnyParams);

/// The places of a plaintext that values go to.
#[derive(Clone, Copy)]
enum Destination {
    Slots,
    Coefficients,
}

impl Destination {
    fn encode<S: Scheme>(
        self,
        params: &Params<S>,
        values: &[S::Value],
        level: usize,
    ) -> Result<RustPlaintext<S>, EncodeError> {
        match self {
            Self::Slots => S::encode_slots(params, values, level),
            Self::Coefficients => S::encode_coefficients(params, values, level),
        }
    }
}

#[pymethods]
impl Encoder {
    #[new]
    fn new(parameters: &Parameters) -> Self {
        Self(parameters.0.clone())
    }

    /// Encodes one number a slot; slots without a number are zero.
    ///
    /// BFV and BGV take integers from −t to t, exact modulo t, at most n: the first row of slots, then the second.
    /// CKKS takes real or complex numbers, at most n/2. `level`: the level of the ciphertexts that it will meet (CKKS);
    /// None: the top one. `magnitude`: the declared bound on absolute values, public (CKKS).
    #[pyo3(signature = (values, level=None, magnitude=1.0))]
    fn encode(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        level: Option<usize>,
        magnitude: f64,
    ) -> PyResult<Plaintext> {
        self.put(py, Destination::Slots, values, level, magnitude)
    }

    /// Encodes up to n numbers as coefficients, for any plain modulus. Sums add them place by place; products convolve
    /// them negacyclically.
    #[pyo3(signature = (values, level=None, magnitude=1.0))]
    fn encode_coefficients(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        level: Option<usize>,
        magnitude: f64,
    ) -> PyResult<Plaintext> {
        self.put(py, Destination::Coefficients, values, level, magnitude)
    }

    /// Encodes one number in every slot.
    #[pyo3(signature = (value, level=None, magnitude=1.0))]
    fn encode_scalar(
        &self,
        py: Python<'_>,
        value: &Bound<'_, PyAny>,
        level: Option<usize>,
        magnitude: f64,
    ) -> PyResult<Plaintext> {
        let level = Parameters(self.0.clone()).level(py, level)?;
        let magnitude = positive(py, magnitude)?;
        let encoded = map_any!(&self.0, params => {
            declared(scalar(params, value, level)?.or_refuse(py)?, magnitude)
        });
        Ok(Plaintext(encoded))
    }

    /// Returns the slots: n integers nearest to zero modulo t, or n/2 real numbers. `unsigned`: integers from 0 to
    /// t − 1 as uint64.
    #[pyo3(signature = (plaintext, *, unsigned=false))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Plaintext,
        unsigned: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.belongs(py, plaintext)?;
        let decoded = with_same!((&self.0, &plaintext.0), (params, message) => {
            py.detach(|| decode_slots(params, message)).or_refuse(py)?.into_array(py, unsigned, params.plain_modulus())
        });
        decoded.ok_or_else(|| mixed(py))
    }

    /// Returns the n/2 slots of a CKKS plaintext as complex numbers.
    fn decode_complex<'py>(&self, py: Python<'py>, plaintext: &Plaintext) -> PyResult<Bound<'py, PyAny>> {
        self.belongs(py, plaintext)?;
        let (Some(params), Some(message)) = (self.0.real(), plaintext.0.real()) else {
            return Err(PyTypeError::new_err("only CKKS has complex slots: use decode"));
        };
        let slots = py.detach(|| params.decode_complex(message));
        let slots: Vec<Complex64> = slots.iter().map(|z| Complex64::new(z.re, z.im)).collect();
        Ok(slots.into_pyarray(py).into_any())
    }

    /// Returns the n coefficients: integers nearest to zero modulo t, or real numbers.
    #[pyo3(signature = (plaintext, *, unsigned=false))]
    fn decode_coefficients<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Plaintext,
        unsigned: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.belongs(py, plaintext)?;
        let decoded = with_same!((&self.0, &plaintext.0), (params, message) => {
            py.detach(|| decode_coefficients(params, message)).into_array(py, unsigned, params.plain_modulus())
        });
        decoded.ok_or_else(|| mixed(py))
    }
}

impl Encoder {
    fn belongs(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<()> {
        if plaintext.is_of(&self.0) { Ok(()) } else { Err(other_parameters(py)) }
    }

    fn put(
        &self,
        py: Python<'_>,
        places: Destination,
        values: &Bound<'_, PyAny>,
        level: Option<usize>,
        magnitude: f64,
    ) -> PyResult<Plaintext> {
        let level = Parameters(self.0.clone()).level(py, level)?;
        let (numbers, magnitude) = (Numbers::of(values)?, positive(py, magnitude)?);
        if let (Numbers::Complex(array), Some(params)) = (&numbers, self.0.real()) {
            let (values, Destination::Slots) = (complex(slice(array)?), places) else {
                return Err(PyTypeError::new_err("coefficients are real: complex numbers go to slots"));
            };
            let encoded = py.detach(|| params.encode_complex(&values, level)).or_refuse(py)?;
            return Ok(Plaintext(OfAnyScheme::of_real(declared(encoded, magnitude))));
        }
        let encoded = map_any!(&self.0, params => {
            let encode = |values: &[_]| py.detach(|| places.encode(params, values, level));
            declared(Entry::on_entries(&numbers, encode)?.or_refuse(py)?, magnitude)
        });
        Ok(Plaintext(encoded))
    }
}

/// A slot's value in Python.
trait Entry: SlotValue {
    /// Returns one number.
    ///
    /// # Errors
    /// TypeError for a number of another kind.
    fn entry(number: &Bound<'_, PyAny>) -> PyResult<Self>;

    /// Uses the numbers of an array.
    ///
    /// # Errors
    /// TypeError for numbers of another kind, or an array with gaps.
    fn on_entries<R>(numbers: &Numbers<'_>, work: impl FnOnce(&[Self]) -> R) -> PyResult<R>;
}

impl Entry for i64 {
    fn entry(number: &Bound<'_, PyAny>) -> PyResult<Self> {
        match number.extract::<Self>() {
            // Beyond 64 bits is beyond every plain modulus.
            Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => Ok(Self::MAX),
            extracted => extracted,
        }
    }

    fn on_entries<R>(numbers: &Numbers<'_>, work: impl FnOnce(&[Self]) -> R) -> PyResult<R> {
        match numbers {
            Numbers::Integers(array) => Ok(work(slice(array)?)),
            Numbers::Unsigned(array) => Ok(work(&signed(slice(array)?))),
            _ => Err(PyTypeError::new_err("BFV and BGV take integers: round the values, or use CKKS")),
        }
    }
}

impl Entry for f64 {
    fn entry(number: &Bound<'_, PyAny>) -> PyResult<Self> {
        number.extract()
    }

    fn on_entries<R>(numbers: &Numbers<'_>, work: impl FnOnce(&[Self]) -> R) -> PyResult<R> {
        match numbers {
            Numbers::Reals(array) => Ok(work(slice(array)?)),
            Numbers::Integers(array) => Ok(work(&reals(slice(array)?))),
            Numbers::Unsigned(array) => Ok(work(&reals(&signed(slice(array)?)))),
            Numbers::Complex(_) => Err(PyTypeError::new_err("complex numbers go to slots of CKKS")),
        }
    }
}

/// Decoded values as an array.
trait IntoArray {
    /// Returns an array; of integers as residues modulo `modulus` if they are wanted `unsigned`.
    fn into_array(self, py: Python<'_>, unsigned: bool, modulus: u64) -> Bound<'_, PyAny>;
}

impl IntoArray for Vec<i64> {
    fn into_array(self, py: Python<'_>, unsigned: bool, modulus: u64) -> Bound<'_, PyAny> {
        if !unsigned {
            return self.into_pyarray(py).into_any();
        }
        let residue = |value: &i64| value.rem_euclid(modulus as i64) as u64;
        self.iter().map(residue).collect::<Vec<_>>().into_pyarray(py).into_any()
    }
}

impl IntoArray for Vec<f64> {
    fn into_array(self, py: Python<'_>, _unsigned: bool, _modulus: u64) -> Bound<'_, PyAny> {
        self.into_pyarray(py).into_any()
    }
}

fn scalar<S: Scheme<Value: Entry>>(
    params: &Params<S>,
    number: &Bound<'_, PyAny>,
    level: usize,
) -> PyResult<Result<RustPlaintext<S>, EncodeError>> {
    Ok(S::encode_scalar(params, S::Value::entry(number)?, level))
}

fn decode_slots<S: Scheme>(
    params: &Params<S>,
    message: &RustPlaintext<S>,
) -> Result<Vec<S::Value>, EncodeError> {
    S::decode_slots(params, message)
}

fn decode_coefficients<S: Scheme>(params: &Params<S>, message: &RustPlaintext<S>) -> Vec<S::Value> {
    S::decode_coefficients(params, message)
}

/// Declares the bound on the values of a plaintext of reals.
fn declared<S: Scheme>(plaintext: RustPlaintext<S>, magnitude: f64) -> RustPlaintext<S> {
    if S::EXACT { plaintext } else { plaintext.declare_magnitude(magnitude) }
}

/// Refuses a declared magnitude that bounds nothing.
pub(super) fn positive(py: Python<'_>, magnitude: f64) -> PyResult<f64> {
    if magnitude > 0.0 && magnitude.is_finite() {
        return Ok(magnitude);
    }
    Err(named(py, "OutOfRange", "a magnitude is positive and finite".into()))
}
