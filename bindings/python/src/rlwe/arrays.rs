//! NumPy arrays as slices.

use numpy::{Complex64, PyArrayDescrMethods as _, PyReadonlyArray1, PyUntypedArray};
use numpy::{PyUntypedArrayMethods as _, dtype};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sotto_ring::{Complex, Wiped};

use zeroize::Zeroizing;

use crate::error::named;

/// One-dimensional numbers: int64, uint64 and float64 arrays without a copy if they are contiguous.
pub(super) enum Numbers<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Unsigned(PyReadonlyArray1<'py, u64>),
    Reals(PyReadonlyArray1<'py, f64>),
    Complex(PyReadonlyArray1<'py, Complex64>),
}

impl<'py> Numbers<'py> {
    /// Takes an array, or a sequence that NumPy turns into one.
    pub(super) fn of(values: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = values.py();
        let array = py.import("numpy")?.call_method1("ascontiguousarray", (values,))?;
        let untyped = array.cast::<PyUntypedArray>()?;
        // ascontiguousarray makes one dimension of none.
        if untyped.ndim() != 1 {
            let message =
                format!("an array of {} dimensions: encode one dimension at a time", untyped.ndim());
            return Err(named(py, "ShapeMismatch", message));
        }
        let found = untyped.dtype();
        let to = |wanted: &str| array.call_method1("astype", (wanted,));
        match (found.kind(), found.itemsize()) {
            (b'i', 8) if found.is_equiv_to(&dtype::<i64>(py)) => Ok(Self::Integers(array.extract()?)),
            (b'u', 8) if found.is_equiv_to(&dtype::<u64>(py)) => Ok(Self::Unsigned(array.extract()?)),
            (b'f', 8) if found.is_equiv_to(&dtype::<f64>(py)) => Ok(Self::Reals(array.extract()?)),
            (b'c', 16) if found.is_equiv_to(&dtype::<Complex64>(py)) => Ok(Self::Complex(array.extract()?)),
            (b'i', _) => Ok(Self::Integers(to("int64")?.extract()?)),
            (b'u', _) => Ok(Self::Unsigned(to("uint64")?.extract()?)),
            (b'f', 2 | 4 | 8) => Ok(Self::Reals(to("float64")?.extract()?)),
            (b'c', 8 | 16) => Ok(Self::Complex(to("complex128")?.extract()?)),
            _ => Err(PyTypeError::new_err(format!(
                "an array of {found} cannot be encoded: take int64, uint64, float64 or complex128"
            ))),
        }
    }
}

/// Returns the elements of a contiguous array.
pub(super) fn slice<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyTypeError::new_err("the array is not contiguous"))
}

/// Returns unsigned integers as signed ones. Those from 2^63 on become i64::MAX, which no plain modulus holds.
pub(super) fn signed(values: &[u64]) -> Wiped<i64> {
    let mut signed = Wiped::zeros(values.len());
    signed.iter_mut().zip(values).for_each(|(to, from)| *to = i64::try_from(*from).unwrap_or(i64::MAX));
    signed
}

/// Returns integers as real numbers, to the nearest float64.
pub(super) fn reals(values: &[i64]) -> Wiped<f64> {
    let mut reals = Wiped::zeros(values.len());
    reals.iter_mut().zip(values).for_each(|(to, from)| *to = *from as f64);
    reals
}

/// Returns complex numbers in the crate's type.
pub(super) fn complex(values: &[Complex64]) -> Zeroizing<Vec<Complex>> {
    Zeroizing::new(values.iter().map(|z| Complex { re: z.re, im: z.im }).collect())
}
