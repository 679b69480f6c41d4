//! The base class of encrypted arrays: their parts and facts, and the operators of arrays that are one vector. Python
//! code has all other cases and every message.

use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString, PyTuple};
use pyo3::{IntoPyObjectExt as _, intern};

use crate::call::{briefly, watched};
use crate::schemes::each;
use crate::vector::{Plain, Scalar, Values, Vector};

/// Ciphertexts and public facts of an encrypted array.
#[pyclass(subclass, frozen, module = "sotto._native")]
pub(crate) struct Array {
    parts: Parts,
    /// The length of axis 0 where it lies in slots.
    length: Option<usize>,
    /// The resolution to which the owner rounds.
    grid: Option<f64>,
    /// The step that the owner takes: a name and a number.
    finish: Option<Py<PyAny>>,
    /// The lines that used levels.
    trail: Py<PyTuple>,
}

enum Parts {
    /// The vector of an array without other axes.
    One(Py<Vector>),
    /// An object array of vectors.
    Many(Py<PyAny>),
}

/// The result, or None if it is left to the Python method of the general case, which also explains refusals.
type Found = PyResult<Option<Values>>;

/// A public operand that needs no broadcasting.
enum Public<'py> {
    Number(Scalar),
    Row(Plain<'py>),
}

impl<'py> Public<'py> {
    /// Reads a number, or a contiguous vector of more than one value and of this length.
    fn of(object: &Bound<'py, PyAny>, length: Option<usize>) -> Option<Self> {
        if object.is_exact_instance_of::<PyUntypedArray>() {
            let row = object.extract::<Plain<'_>>().ok()?;
            let values = row.len_if_contiguous();
            return (values.is_some() && values == length && values > Some(1)).then_some(Self::Row(row));
        }
        let number = object.is_instance_of::<PyFloat>() || object.is_exact_instance_of::<PyInt>();
        number.then(|| object.extract().ok().map(Self::Number)).flatten()
    }
}

/// Runs an operation of two vectors.
macro_rules! vectors {
    ($run:ident, $a:ident, $b:ident => $result:expr) => {
        |py, x, y| match (x, y) {
            (Values::Reals($a), Values::Reals($b)) => Ok($run(py, || $result)?.ok().map(Values::Reals)),
            (Values::Integers($a), Values::Integers($b)) => {
                Ok($run(py, || $result)?.ok().map(Values::Integers))
            }
            _ => Ok(None),
        }
    };
}

/// Runs an operation with a public number or vector of the scheme.
macro_rules! public {
    ($a:ident, $c:ident => $result:expr) => {
        |py, x, public| match (x, public) {
            (Values::Reals($a), Public::Number(number)) => {
                let $c = number.real();
                Ok(watched(py, || $result)?.ok().map(Values::Reals))
            }
            (Values::Integers($a), Public::Number(Scalar::Integer($c))) => {
                Ok(watched(py, || $result)?.ok().map(Values::Integers))
            }
            (Values::Reals($a), Public::Row(Plain::Reals(row))) => {
                let $c = row.as_slice()?;
                Ok(watched(py, || $result)?.ok().map(Values::Reals))
            }
            (Values::Integers($a), Public::Row(Plain::Integers(row))) => {
                let $c = row.as_slice()?;
                Ok(watched(py, || $result)?.ok().map(Values::Integers))
            }
            _ => Ok(None),
        }
    };
}

#[pymethods]
impl Array {
    #[new]
    #[pyo3(signature = (parts=None, length=None, grid=None, finish=None, trail=None))]
    fn new(
        parts: Option<Bound<'_, PyAny>>,
        length: Option<usize>,
        grid: Option<f64>,
        finish: Option<Py<PyAny>>,
        trail: Option<Py<PyTuple>>,
    ) -> PyResult<Self> {
        let (Some(parts), Some(trail)) = (parts, trail) else {
            return Err(PyTypeError::new_err("owner.encrypt(values) makes an encrypted array"));
        };
        let parts = match parts.cast_into::<Vector>() {
            Ok(vector) => Parts::One(vector.unbind()),
            Err(error) => Parts::Many(error.into_inner().unbind()),
        };
        Ok(Self { parts, length, grid, finish, trail })
    }

    /// The one vector of the array, or None.
    #[getter(_vector)]
    fn vector(&self, py: Python<'_>) -> Option<Py<Vector>> {
        match &self.parts {
            Parts::One(vector) => Some(vector.clone_ref(py)),
            Parts::Many(_) => None,
        }
    }

    /// An object array of vectors.
    #[getter(_parts)]
    fn parts(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.parts {
            Parts::One(vector) => python(py, intern!(py, "alone"), (vector,)),
            Parts::Many(parts) => Ok(parts.clone_ref(py)),
        }
    }

    #[getter(_length)]
    fn length(&self) -> Option<usize> {
        self.length
    }

    #[getter(_grid)]
    fn grid(&self) -> Option<f64> {
        self.grid
    }

    #[getter(_finish)]
    fn finish(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.finish.as_ref().map(|finish| finish.clone_ref(py))
    }

    #[getter(_trail)]
    fn trail(&self, py: Python<'_>) -> Py<PyTuple> {
        self.trail.clone_ref(py)
    }

    fn __add__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let add =
            Operator { sign: intern!(slf.py(), "+"), general: intern!(slf.py(), "_add"), keeps_grid: true };
        add.run(slf, other, vectors!(briefly, a, b => a + b), public!(a, c => a + c))
    }

    fn __radd__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Self::__add__(slf, other)
    }

    fn __sub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let general = intern!(slf.py(), "_subtract");
        let subtract = Operator { sign: intern!(slf.py(), "-"), general, keeps_grid: true };
        subtract.run(slf, other, vectors!(briefly, a, b => a - b), |_, _, _| Ok(None))
    }

    fn __rsub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(slf.call_method1(intern!(slf.py(), "_subtract_from"), (other,))?.unbind())
    }

    fn __mul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let general = intern!(slf.py(), "_multiply");
        let multiply = Operator { sign: intern!(slf.py(), "*"), general, keeps_grid: false };
        multiply.run(slf, other, vectors!(watched, a, b => a * b), public!(a, c => a * c))
    }

    fn __rmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Self::__mul__(slf, other)
    }
}

struct Operator<'a, 'py> {
    sign: &'a Bound<'py, PyString>,
    /// The method of the general case.
    general: &'a Bound<'py, PyString>,
    /// True if two arrays of one resolution give another of that resolution.
    keeps_grid: bool,
}

impl<'py> Operator<'_, 'py> {
    fn run(
        &self,
        slf: &Bound<'py, Array>,
        other: &Bound<'py, PyAny>,
        vectors: impl FnOnce(Python<'py>, &Values, &Values) -> Found,
        public: impl FnOnce(Python<'py>, &Values, Public<'py>) -> Found,
    ) -> PyResult<Py<PyAny>> {
        let (py, x) = (slf.py(), slf.get());
        if let Some(a) = x.open_vector() {
            if let Ok(other) = other.cast::<Array>() {
                let y = other.get();
                if let Some(b) = y.open_vector()
                    && x.length == y.length
                    && let Some(values) = vectors(py, a, b)?
                {
                    let grid = if self.keeps_grid && x.grid == y.grid { x.grid } else { None };
                    let trail = x.trail_with(py, y)?;
                    return self.made(slf, values, levels(a).min(levels(b)), grid, trail);
                }
            } else if let Some(operand) = Public::of(other, x.length)
                && let Some(values) = public(py, a, operand)?
            {
                return self.made(slf, values, levels(a), None, x.trail.clone_ref(py));
            }
        }
        Ok(slf.call_method1(self.general, (other,))?.unbind())
    }

    /// Makes the resulting array. Its trail grows if it has fewer levels left than `before`.
    fn made(
        &self,
        slf: &Bound<'py, Array>,
        values: Values,
        before: usize,
        grid: Option<f64>,
        trail: Py<PyTuple>,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let trail = if levels(&values) < before {
            python(py, intern!(py, "longer"), (trail, self.sign))?
        } else {
            trail.into_any()
        };
        let vector = Py::new(py, Vector(values))?;
        Ok(slf.get_type().call1((vector, slf.get().length, grid, py.None(), trail))?.unbind())
    }
}

impl Array {
    /// The one vector of an array that is not finished.
    fn open_vector(&self) -> Option<&Values> {
        match (&self.parts, &self.finish) {
            (Parts::One(vector), None) => Some(&vector.get().0),
            _ => None,
        }
    }

    fn trail_with(&self, py: Python<'_>, other: &Self) -> PyResult<Py<PyTuple>> {
        if self.trail.is(&other.trail) {
            return Ok(self.trail.clone_ref(py));
        }
        let joined = python(py, intern!(py, "joined"), (&self.trail, &other.trail))?;
        Ok(joined.into_bound(py).cast_into::<PyTuple>()?.unbind())
    }
}

fn levels(values: &Values) -> usize {
    each!(Values, values, vector => vector.levels_left())
}

/// Calls a function of `sotto._parts`.
fn python<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyString>,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Py<PyAny>> {
    py.import(intern!(py, "sotto._parts"))?.getattr(name)?.call1(arguments)?.into_py_any(py)
}
