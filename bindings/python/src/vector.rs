//! Encrypted vectors and the operations on them.

use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat};
use sotto::{Bfv, Ckks, Encrypted};

use crate::call::detached;
use crate::error::mixed_kinds;
use crate::flags::{Flags, compared, least_levels};
use crate::schemes::each;

#[derive(Clone)]
pub(crate) enum Values {
    Reals(Encrypted<Ckks>),
    Integers(Encrypted<Bfv>),
}

/// An encrypted vector of one scheme, or its shape in a dry run.
#[pyclass(frozen, module = "sotto._native")]
pub(crate) struct Vector(pub(crate) Values);

/// Returns the elements of an array without copying them.
pub(crate) fn contiguous<'a, T: numpy::Element>(values: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    values.as_slice().map_err(|_| PyTypeError::new_err("the array is not contiguous"))
}

/// Runs an operation of either scheme without holding the interpreter.
macro_rules! unary {
    ($py:ident, $self:ident, $a:ident => $result:expr) => {{
        let done = detached($py, || match &$self.0 {
            Values::Reals($a) => $result.map(Values::Reals),
            Values::Integers($a) => $result.map(Values::Integers),
        });
        done.map(Vector)
    }};
}

/// An operation on real numbers alone.
macro_rules! real {
    ($py:ident, $self:ident, $a:ident => $result:expr) => {
        match &$self.0 {
            Values::Reals($a) => detached($py, || $result).map(Values::Reals).map(Vector),
            Values::Integers(_) => Err(mixed_kinds()),
        }
    };
}

macro_rules! binary {
    ($py:ident, $self:ident, $other:ident, $a:ident, $b:ident => $result:expr) => {{
        let done = match (&$self.0, &$other.0) {
            (Values::Reals($a), Values::Reals($b)) => detached($py, || $result).map(Values::Reals),
            (Values::Integers($a), Values::Integers($b)) => detached($py, || $result).map(Values::Integers),
            _ => Err(mixed_kinds()),
        };
        done.map(Vector)
    }};
}

/// A public number.
pub(crate) enum Scalar {
    Integer(i64),
    Real(f64),
}

/// A public vector.
pub(crate) enum Plain<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Reals(PyReadonlyArray1<'py, f64>),
}

// Derived, these two would describe each attempt that fails, which takes as long as an addition.
impl FromPyObject<'_, '_> for Scalar {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.cast::<PyFloat>() {
            Ok(number) => Ok(Self::Real(number.value())),
            Err(_) => object.extract().map(Self::Integer).or_else(|_| object.extract().map(Self::Real)),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Plain<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(values) = object.cast::<PyArray1<f64>>() {
            return Ok(Self::Reals(values.try_readonly()?));
        }
        match object.cast::<PyArray1<i64>>() {
            Ok(values) => Ok(Self::Integers(values.try_readonly()?)),
            Err(_) => Err(PyTypeError::new_err("the public array is not a vector of float64 or int64")),
        }
    }
}

impl Plain<'_> {
    /// Returns the number of values, if they lie one after another.
    pub(crate) fn len_if_contiguous(&self) -> Option<usize> {
        match self {
            Self::Reals(values) => values.as_slice().ok().map(<[f64]>::len),
            Self::Integers(values) => values.as_slice().ok().map(<[i64]>::len),
        }
    }
}

impl Scalar {
    pub(crate) fn real(&self) -> f64 {
        match self {
            Self::Integer(value) => *value as f64,
            Self::Real(value) => *value,
        }
    }

    fn integer(&self) -> PyResult<i64> {
        match self {
            Self::Integer(value) => Ok(*value),
            Self::Real(_) => Err(fractions()),
        }
    }
}

fn fractions() -> PyErr {
    PyTypeError::new_err(
        "encrypted whole numbers take whole numbers: to compute with fractions encrypt floats, \
         owner.encrypt(np.asarray(values, dtype=float), …)",
    )
}

/// Operations with a public number or vector.
macro_rules! with_plain {
    ($py:ident, $self:ident, $plain:ident, $x:ident, $c:ident => $result:expr) => {
        match (&$self.0, &$plain) {
            (Values::Reals($x), Plain::Reals(values)) => {
                let $c = contiguous(values)?;
                detached($py, || $result).map(Values::Reals).map(Vector)
            }
            (Values::Integers($x), Plain::Integers(values)) => {
                let $c = contiguous(values)?;
                detached($py, || $result).map(Values::Integers).map(Vector)
            }
            (Values::Reals(_), Plain::Integers(_)) => {
                Err(PyTypeError::new_err("the public array is not float64"))
            }
            (Values::Integers(_), Plain::Reals(_)) => Err(fractions()),
        }
    };
}

macro_rules! with_scalar {
    ($py:ident, $self:ident, $scalar:ident, $x:ident, $c:ident => $result:expr) => {
        match &$self.0 {
            Values::Reals($x) => {
                let $c = $scalar.real();
                detached($py, || $result).map(Values::Reals).map(Vector)
            }
            Values::Integers($x) => {
                let $c = $scalar.integer()?;
                detached($py, || $result).map(Values::Integers).map(Vector)
            }
        }
    };
}

#[pymethods]
impl Vector {
    pub(crate) fn __len__(&self) -> usize {
        each!(Values, &self.0, vector => vector.len())
    }

    /// True for real numbers.
    #[getter]
    fn is_real(&self) -> bool {
        matches!(self.0, Values::Reals(_))
    }

    /// A bound on the absolute values.
    #[getter]
    fn magnitude(&self) -> f64 {
        each!(Values, &self.0, vector => vector.magnitude())
    }

    /// Levels left: of real numbers each product takes one.
    #[getter]
    fn levels_left(&self) -> usize {
        each!(Values, &self.0, vector => vector.levels_left())
    }

    /// Bytes that the ciphertexts take in memory.
    #[getter]
    fn nbytes(&self) -> usize {
        each!(Values, &self.0, vector => {
            let params = vector.context().params();
            vector.ciphertexts().iter().map(|part| part.shape().bytes(params) as usize).sum()
        })
    }

    fn add(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        binary!(py, self, other, a, b => a + b)
    }

    fn subtract(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        binary!(py, self, other, a, b => a - b)
    }

    fn multiply(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        binary!(py, self, other, a, b => a * b)
    }

    fn negate(&self, py: Python<'_>) -> PyResult<Self> {
        unary!(py, self, a => -a)
    }

    fn add_scalar(&self, py: Python<'_>, value: Scalar) -> PyResult<Self> {
        with_scalar!(py, self, value, x, c => x + c)
    }

    fn multiply_scalar(&self, py: Python<'_>, value: Scalar) -> PyResult<Self> {
        with_scalar!(py, self, value, x, c => x * c)
    }

    fn add_plain(&self, py: Python<'_>, values: Plain<'_>) -> PyResult<Self> {
        with_plain!(py, self, values, x, c => x + c)
    }

    fn multiply_plain(&self, py: Python<'_>, values: Plain<'_>) -> PyResult<Self> {
        with_plain!(py, self, values, x, c => x * c)
    }

    fn sum(&self, py: Python<'_>) -> PyResult<Self> {
        unary!(py, self, a => a.sum())
    }

    /// Σ aᵢ·bᵢ.
    fn dot(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        binary!(py, self, other, a, b => a.dot(b))
    }

    /// Σ aᵢ·wᵢ with public weights.
    fn dot_plain(&self, py: Python<'_>, weights: Plain<'_>) -> PyResult<Self> {
        with_plain!(py, self, weights, x, c => x.dot_plain(c))
    }

    /// Σ aᵢ·wᵢ with public weights, for a product with its like.
    fn dot_plain_to_multiply(&self, py: Python<'_>, weights: Plain<'_>) -> PyResult<Self> {
        with_plain!(py, self, weights, x, c => x.dot_plain_to_multiply(c))
    }

    /// The mean of real values.
    fn mean(&self, py: Python<'_>) -> PyResult<Self> {
        real!(py, self, x => x.mean())
    }

    /// The variance of real values.
    fn variance(&self, py: Python<'_>) -> PyResult<Self> {
        real!(py, self, x => x.variance())
    }

    /// Σ aᵢ as the last step.
    fn sum_for_answer(&self, py: Python<'_>) -> PyResult<Self> {
        unary!(py, self, a => a.sum_for_answer())
    }

    /// Σ aᵢ·bᵢ as the last step.
    fn dot_for_answer(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        binary!(py, self, other, a, b => a.dot_for_answer(b))
    }

    fn square(&self, py: Python<'_>) -> PyResult<Self> {
        unary!(py, self, a => a.square())
    }

    fn power(&self, py: Python<'_>, exponent: u32) -> PyResult<Self> {
        unary!(py, self, a => a.pow(exponent))
    }

    /// c₀ + c₁·x + c₂·x² + …
    fn polynomial(&self, py: Python<'_>, coefficients: Plain<'_>) -> PyResult<Self> {
        with_plain!(py, self, coefficients, x, c => x.polynomial(c))
    }

    /// The values with these indices.
    fn select(&self, py: Python<'_>, indices: Vec<usize>) -> PyResult<Self> {
        unary!(py, self, a => a.select(&indices))
    }

    /// Σ weights[i]·vectors[i].
    #[staticmethod]
    fn weighted_sum(py: Python<'_>, vectors: Vec<PyRef<'_, Self>>, weights: Plain<'_>) -> PyResult<Self> {
        let all: Vec<&Values> = vectors.iter().map(|vector| &vector.0).collect();
        match weights {
            Plain::Reals(weights) => {
                let of = |values: &&'_ Values| match values {
                    Values::Reals(vector) => Ok(vector.clone()),
                    Values::Integers(_) => Err(fractions()),
                };
                let vectors = all.iter().map(of).collect::<PyResult<Vec<_>>>()?;
                let (vectors, weights): (Vec<_>, _) = (vectors.iter().collect(), contiguous(&weights)?);
                let sum = detached(py, || Encrypted::weighted_sum(&vectors, weights));
                sum.map(Values::Reals).map(Vector)
            }
            Plain::Integers(weights) => {
                let of = |values: &&'_ Values| match values {
                    Values::Integers(vector) => Ok(vector.clone()),
                    Values::Reals(_) => Err(PyTypeError::new_err("the weights are not float64")),
                };
                let vectors = all.iter().map(of).collect::<PyResult<Vec<_>>>()?;
                let (vectors, weights): (Vec<_>, _) = (vectors.iter().collect(), contiguous(&weights)?);
                let sum = detached(py, || Encrypted::weighted_sum(&vectors, weights));
                sum.map(Values::Integers).map(Vector)
            }
        }
    }

    /// Levels of a fresh vector of these keys.
    #[getter]
    fn levels(&self) -> usize {
        each!(Values, &self.0, vector => vector.context().params().top_level())
    }

    /// True if the keys are made for comparisons.
    #[getter]
    fn compares(&self) -> bool {
        match &self.0 {
            Values::Reals(vector) => vector.context().params().top_level() >= least_levels(),
            Values::Integers(vector) => vector.context().range().is_some(),
        }
    }

    /// The range of whole numbers that the values are in.
    #[getter]
    fn limits(&self) -> PyResult<(i64, i64)> {
        match &self.0 {
            Values::Reals(_) => Err(mixed_kinds()),
            Values::Integers(vector) => Ok(vector.range().into_inner()),
        }
    }

    /// Compares real numbers with a limit, with the smallest gap that there is room for.
    fn flags(&self, py: Python<'_>, less: bool, limit: f64) -> PyResult<Flags> {
        match &self.0 {
            Values::Reals(vector) => detached(py, || compared(vector, less, limit)),
            Values::Integers(_) => Err(mixed_kinds()),
        }
    }

    /// Compares whole numbers with a limit: 1 for those at least it, or below it, else 0.
    fn exact_flags(&self, py: Python<'_>, less: bool, limit: i64) -> PyResult<Self> {
        match &self.0 {
            Values::Reals(_) => Err(mixed_kinds()),
            Values::Integers(vector) => {
                let flags = || if less { vector.less_than(limit) } else { vector.at_least(limit) };
                detached(py, flags).map(Values::Integers).map(Self)
            }
        }
    }

    /// Lowers the bound on the absolute values.
    fn within(&self, bound: f64) -> Self {
        Self(match &self.0 {
            Values::Reals(vector) => Values::Reals(vector.clone().with_magnitude(bound)),
            Values::Integers(vector) => Values::Integers(vector.clone().with_magnitude(bound)),
        })
    }

    /// The values as the product with a factor that was rounded.
    fn with_rounded_factor(slf: Bound<'_, Self>) -> PyResult<Py<Self>> {
        let result = match &slf.get().0 {
            Values::Reals(vector) => vector.with_rounded_factor(),
            Values::Integers(_) => None,
        };
        match result {
            Some(vector) => Py::new(slf.py(), Self(Values::Reals(vector))),
            None => Ok(slf.unbind()),
        }
    }

    /// Declares the bound of an input of a dry run.
    fn as_input_within(&self, py: Python<'_>, bound: f64) -> PyResult<Self> {
        unary!(py, self, a => a.as_input_within(bound))
    }

    /// Drops the primes that an answer does not need.
    fn for_answer(&self, py: Python<'_>) -> PyResult<Self> {
        unary!(py, self, a => a.for_answer())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, || each!(Values, &self.0, vector => vector.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }
}
