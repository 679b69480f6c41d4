//! The encoder.

use numpy::{Complex64, IntoPyArray as _};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use sotto_rlwe::{Bfv, Bgv, Ckks, EncodeError, Params, Plaintext as RustPlaintext, Scheme};

use super::arrays::{Numbers, complex, reals, signed, slice};
use super::error::{OrRefuse as _, mixed, other_parameters};
use super::parameters::Parameters;
use super::plaintext::Plaintext;
use super::scheme::{AnyParams, Of};
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
        // An integer beyond 64 bits is beyond every plain modulus.
        let integer = || match value.extract::<i64>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => Ok(i64::MAX),
            extracted => extracted,
        };
        Ok(Plaintext(match &self.0 {
            Of::Bfv(params) => Of::Bfv(Bfv::encode_scalar(params, integer()?, level).or_refuse(py)?),
            Of::Bgv(params) => Of::Bgv(Bgv::encode_scalar(params, integer()?, level).or_refuse(py)?),
            Of::Ckks(params) => {
                let plaintext = Ckks::encode_scalar(params, value.extract()?, level).or_refuse(py)?;
                Of::Ckks(plaintext.declare_magnitude(magnitude))
            }
        }))
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
        match (&self.0, &plaintext.0) {
            (Of::Bfv(params), Of::Bfv(message)) => {
                let slots = py.detach(|| Bfv::decode_slots(params, message)).or_refuse(py)?;
                Ok(integers(py, slots, unsigned.then(|| params.plain_modulus())))
            }
            (Of::Bgv(params), Of::Bgv(message)) => {
                let slots = py.detach(|| Bgv::decode_slots(params, message)).or_refuse(py)?;
                Ok(integers(py, slots, unsigned.then(|| params.plain_modulus())))
            }
            (Of::Ckks(params), Of::Ckks(message)) => {
                let slots = py.detach(|| Ckks::decode_slots(params, message)).or_refuse(py)?;
                Ok(slots.into_pyarray(py).into_any())
            }
            _ => Err(mixed(py)),
        }
    }

    /// Returns the n/2 slots of a CKKS plaintext as complex numbers.
    fn decode_complex<'py>(&self, py: Python<'py>, plaintext: &Plaintext) -> PyResult<Bound<'py, PyAny>> {
        self.belongs(py, plaintext)?;
        match (&self.0, &plaintext.0) {
            (Of::Ckks(params), Of::Ckks(message)) => {
                let slots = py.detach(|| params.decode_complex(message));
                let slots: Vec<Complex64> = slots.iter().map(|z| Complex64::new(z.re, z.im)).collect();
                Ok(slots.into_pyarray(py).into_any())
            }
            _ => Err(PyTypeError::new_err("only CKKS has complex slots: use decode")),
        }
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
        match (&self.0, &plaintext.0) {
            (Of::Bfv(params), Of::Bfv(message)) => {
                let values = py.detach(|| Bfv::decode_coefficients(params, message));
                Ok(integers(py, values, unsigned.then(|| params.plain_modulus())))
            }
            (Of::Bgv(params), Of::Bgv(message)) => {
                let values = py.detach(|| Bgv::decode_coefficients(params, message));
                Ok(integers(py, values, unsigned.then(|| params.plain_modulus())))
            }
            (Of::Ckks(params), Of::Ckks(message)) => {
                Ok(py.detach(|| Ckks::decode_coefficients(params, message)).into_pyarray(py).into_any())
            }
            _ => Err(mixed(py)),
        }
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
        if let Of::Ckks(params) = &self.0 {
            let encoded = match &numbers {
                Numbers::Reals(array) => {
                    let values = slice(array)?;
                    py.detach(|| places.encode(params, values, level))
                }
                Numbers::Integers(array) => {
                    let values = reals(slice(array)?);
                    py.detach(|| places.encode(params, &values, level))
                }
                Numbers::Unsigned(array) => {
                    let values = reals(&signed(slice(array)?));
                    py.detach(|| places.encode(params, &values, level))
                }
                Numbers::Complex(array) => {
                    let (values, Destination::Slots) = (complex(slice(array)?), places) else {
                        return Err(PyTypeError::new_err(
                            "coefficients are real: complex numbers go to slots",
                        ));
                    };
                    py.detach(|| params.encode_complex(&values, level))
                }
            };
            return Ok(Plaintext(Of::Ckks(encoded.or_refuse(py)?.declare_magnitude(magnitude))));
        }
        let copy;
        let values = match &numbers {
            Numbers::Integers(array) => slice(array)?,
            Numbers::Unsigned(array) => {
                copy = signed(slice(array)?);
                &copy
            }
            _ => {
                return Err(PyTypeError::new_err("BFV and BGV take integers: round the values, or use CKKS"));
            }
        };
        let encoded = py.detach(|| match &self.0 {
            Of::Bfv(params) => places.encode(params, values, level).map(Of::Bfv),
            Of::Bgv(params) => places.encode(params, values, level).map(Of::Bgv),
            Of::Ckks(_) => unreachable!("returned above"),
        });
        encoded.or_refuse(py).map(Plaintext)
    }
}

/// Refuses a declared magnitude that bounds nothing.
pub(super) fn positive(py: Python<'_>, magnitude: f64) -> PyResult<f64> {
    if magnitude > 0.0 && magnitude.is_finite() {
        return Ok(magnitude);
    }
    Err(named(py, "OutOfRange", "a magnitude is positive and finite".into()))
}

/// Returns an int64 array, or the residues modulo `modulus` as a uint64 array.
fn integers(py: Python<'_>, values: Vec<i64>, modulus: Option<u64>) -> Bound<'_, PyAny> {
    match modulus {
        None => values.into_pyarray(py).into_any(),
        Some(modulus) => {
            let residue = |value: &i64| value.rem_euclid(modulus as i64) as u64;
            values.iter().map(residue).collect::<Vec<_>>().into_pyarray(py).into_any()
        }
    }
}
