//! Parameters.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sotto_circuits::row_steps;
use sotto_rlwe::{
    ChainRequest, DefaultChain, Digits, ParameterSpec, Params, Scheme, Security, SecurityTarget, with_any,
};
use sotto_wire::{read_parameters, write_parameters};

use super::arguments::{given, of_spec, plain, scheme_of, target};
use super::error::OrRefuse as _;
use super::scheme::AnyParams;
use crate::error::named;

/// Parameters of BFV, BGV or CKKS: degree, primes, and plain modulus or scale. Cheap to copy.
#[pyclass(frozen, module = "sotto.rlwe")]
#[derive(Clone)]
pub(crate) struct Parameters(pub(crate) AnyParams);

/// Returns the largest log2 of the whole modulus at a degree, special primes included.
///
/// Raises `WrongParameters` if the table has no limit for the degree.
#[pyfunction]
#[pyo3(signature = (degree, *, security_bits=128, profile="guidelines-2024"))]
pub(crate) fn largest_modulus_bits(
    py: Python<'_>,
    degree: usize,
    security_bits: u32,
    profile: &str,
) -> PyResult<u32> {
    target(py, security_bits, profile)?.limit(degree).or_refuse(py)
}

#[pymethods]
impl Parameters {
    /// Makes the default chain of a degree: 128 bits of security by the 2024 guidelines.
    ///
    /// `scheme`: "bfv", "bgv" or "ckks". `plain_modulus`: t, of BFV and BGV alone; 65537 has slots up to degree 32768.
    #[staticmethod]
    #[pyo3(signature = (scheme, degree, plain_modulus=None))]
    fn default(py: Python<'_>, scheme: &str, degree: usize, plain_modulus: Option<u64>) -> PyResult<Self> {
        let scheme = scheme_of(scheme)?;
        let plain = plain(scheme, plain_modulus)?;
        let made = py.detach(|| {
            let spec = DefaultChain::spec(scheme, degree, plain)?;
            of_spec(spec, Some(SecurityTarget::default()))
        });
        made.or_refuse(py).map(Self)
    }

    /// Makes the best chain with the requested properties within a security level. Every property may be left out.
    ///
    /// `special_primes`: 0 to 16; with 0 nothing can be relinearised or rotated. `digits` or `digit_primes`: the split
    /// of the data primes in key switching. `levels`: data primes except the first. `data_bits`: bits of the data
    /// modulus, met within 3 %. `first_bits`, `other_bits`, `special_bits`: bits of the primes; `other_bits` also of the
    /// CKKS scale.
    #[staticmethod]
    #[pyo3(signature = (scheme, degree, plain_modulus=None, *, special_primes=None, digits=None, digit_primes=None,
        levels=None, data_bits=None, first_bits=None, other_bits=None, special_bits=None, security_bits=128,
        profile="guidelines-2024"))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn request(
        py: Python<'_>,
        scheme: &str,
        degree: usize,
        plain_modulus: Option<u64>,
        special_primes: Option<usize>,
        digits: Option<usize>,
        digit_primes: Option<usize>,
        levels: Option<usize>,
        data_bits: Option<u32>,
        first_bits: Option<u32>,
        other_bits: Option<u32>,
        special_bits: Option<u32>,
        security_bits: u32,
        profile: &str,
    ) -> PyResult<Self> {
        let scheme = scheme_of(scheme)?;
        let security = target(py, security_bits, profile)?;
        let digits = match (digits, digit_primes) {
            (None, None) => None,
            (Some(count), None) => Some(Digits::Count(count)),
            (None, Some(primes)) => Some(Digits::Primes(primes)),
            (Some(_), Some(_)) => return Err(PyTypeError::new_err("give digits or digit_primes, not both")),
        };
        let request = ChainRequest {
            security,
            special_primes,
            digits,
            levels,
            data_bits,
            first_bits,
            other_bits,
            special_bits,
            ..ChainRequest::new(scheme, degree, plain(scheme, plain_modulus)?)
        };
        py.detach(|| of_spec(request.build()?, Some(security))).or_refuse(py).map(Self)
    }

    /// Makes parameters of given primes within a security level.
    ///
    /// `data`: q_0 first; the last one is dropped first. `special`: largest first. `digit_primes`: data primes a digit
    /// of key switching, by default as many as there are special primes. CKKS takes `log2_scale` for `plain_modulus`.
    #[staticmethod]
    #[pyo3(signature = (scheme, degree, *, data, special=Vec::new(), digit_primes=None, plain_modulus=None,
        log2_scale=None, security_bits=128, profile="guidelines-2024"))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn from_primes(
        py: Python<'_>,
        scheme: &str,
        degree: usize,
        data: Vec<u64>,
        special: Vec<u64>,
        digit_primes: Option<usize>,
        plain_modulus: Option<u64>,
        log2_scale: Option<u64>,
        security_bits: u32,
        profile: &str,
    ) -> PyResult<Self> {
        let spec = given(scheme, degree, data, special, digit_primes, plain_modulus, log2_scale)?;
        let security = target(py, security_bits, profile)?;
        py.detach(|| of_spec(spec, Some(security))).or_refuse(py).map(Self)
    }

    /// Makes parameters of given primes without a promise of security, for tests and teaching. Degrees from 4.
    #[staticmethod]
    #[pyo3(signature = (scheme, degree, *, data, special=Vec::new(), digit_primes=None, plain_modulus=None,
        log2_scale=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn insecure_from_primes(
        py: Python<'_>,
        scheme: &str,
        degree: usize,
        data: Vec<u64>,
        special: Vec<u64>,
        digit_primes: Option<usize>,
        plain_modulus: Option<u64>,
        log2_scale: Option<u64>,
    ) -> PyResult<Self> {
        let spec = given(scheme, degree, data, special, digit_primes, plain_modulus, log2_scale)?;
        py.detach(|| of_spec(spec, None)).or_refuse(py).map(Self)
    }

    /// Reads the bytes of `to_bytes` and checks the security level.
    #[staticmethod]
    #[pyo3(signature = (data, *, security_bits=128, profile="guidelines-2024"))]
    fn from_bytes(py: Python<'_>, data: &[u8], security_bits: u32, profile: &str) -> PyResult<Self> {
        let security = target(py, security_bits, profile)?;
        let spec = read_parameters(data).or_refuse(py)?;
        py.detach(|| of_spec(spec, Some(security))).or_refuse(py).map(Self)
    }

    /// Writes the numbers that define the parameters.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &write_parameters(self.spec()))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    /// "bfv", "bgv" or "ckks".
    #[getter]
    fn scheme(&self) -> &'static str {
        self.spec().scheme.name()
    }

    /// The degree of the ring, n.
    #[getter]
    fn degree(&self) -> usize {
        self.spec().degree
    }

    /// Rows and columns of a plaintext's slots, or None if a plaintext has no slots.
    #[getter]
    fn slot_shape(&self) -> Option<(usize, usize)> {
        with_any!(&self.0, params => slot_shape(params))
    }

    /// Data primes, q_0 first.
    #[getter]
    fn data_primes(&self) -> Vec<u64> {
        self.spec().data.clone()
    }

    /// Special primes, largest first.
    #[getter]
    fn special_primes(&self) -> Vec<u64> {
        self.spec().special.clone()
    }

    /// Data primes a digit of key switching.
    #[getter]
    fn digit_primes(&self) -> usize {
        self.spec().digit_primes
    }

    /// Digits of a key-switching key.
    #[getter]
    fn digits(&self) -> usize {
        with_any!(&self.0, params => params.digit_count())
    }

    /// The plain modulus t of BFV and BGV; None in CKKS.
    #[getter]
    fn plain_modulus(&self) -> Option<u64> {
        self.spec().scheme.is_exact().then_some(self.spec().plain)
    }

    /// log2 of the CKKS scale at the top level; None in BFV and BGV.
    #[getter]
    fn log2_scale(&self) -> Option<u64> {
        (!self.spec().scheme.is_exact()).then_some(self.spec().plain)
    }

    /// The level of fresh ciphertexts. Level 0 is the lowest.
    #[getter]
    fn top_level(&self) -> usize {
        with_any!(&self.0, params => params.top_level())
    }

    /// log2 of the whole modulus, special primes included.
    #[getter]
    fn modulus_bits(&self) -> f64 {
        self.spec().modulus_bits()
    }

    /// The security check that the parameters have passed, or "insecure".
    #[getter]
    fn security(&self) -> String {
        match with_any!(&self.0, params => params.security()) {
            Security::Checked(target) => target.to_string(),
            Security::Insecure => "insecure".into(),
        }
    }

    /// The identity: a hash of everything that defines the parameters, in hexadecimal.
    #[getter]
    fn id(&self) -> String {
        self.spec().id().to_string()
    }

    /// Steps of the rotations by powers of two, both ways, and the row swap (0): with these keys every rotation can be
    /// composed.
    #[getter]
    fn power_of_two_steps(&self) -> Vec<i32> {
        with_any!(&self.0, params => params.power_of_two_steps())
    }

    /// Steps of the rotations that `Evaluator.sum_slots` needs.
    #[getter]
    fn sum_steps(&self) -> Vec<i32> {
        let (rows, columns) = self.slot_shape().unwrap_or((0, 1));
        row_steps(columns).into_iter().chain((rows == 2).then_some(0)).collect()
    }

    /// Returns log2 of the data modulus of a level; None: the top one.
    #[pyo3(signature = (level=None))]
    fn data_bits(&self, py: Python<'_>, level: Option<usize>) -> PyResult<f64> {
        let level = self.level(py, level)?;
        Ok(with_any!(&self.0, params => params.data_bits(level)))
    }

    /// Returns the scale of a CKKS ciphertext of power 1 at a level; None: the top one.
    #[pyo3(signature = (level=None))]
    fn scale(&self, py: Python<'_>, level: Option<usize>) -> PyResult<f64> {
        let level = self.level(py, level)?;
        let none = || PyTypeError::new_err("only CKKS has a scale: BFV and BGV have a plain_modulus");
        self.0.real().map(|params| params.scale(level)).ok_or_else(none)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        self.spec().id().0.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
    }

    fn __repr__(&self) -> String {
        let spec = self.spec();
        format!(
            "Parameters({}, n = {}, {} + {} primes, {:.0} bits, {})",
            spec.scheme.name(),
            spec.degree,
            spec.data.len(),
            spec.special.len(),
            spec.modulus_bits(),
            self.security()
        )
    }
}

impl Parameters {
    pub(crate) fn spec(&self) -> &ParameterSpec {
        with_any!(&self.0, params => params.spec())
    }

    /// Returns a level that exists; None is the top one.
    pub(crate) fn level(&self, py: Python<'_>, level: Option<usize>) -> PyResult<usize> {
        let top = with_any!(&self.0, params => params.top_level());
        match level {
            None => Ok(top),
            Some(level) if level <= top => Ok(level),
            Some(level) => Err(named(
                py,
                "WrongLevel",
                format!("level {level} does not exist: the levels are 0 to {top}"),
            )),
        }
    }
}

fn slot_shape<S: Scheme>(params: &Params<S>) -> Option<(usize, usize)> {
    S::slot_shape(params)
}
