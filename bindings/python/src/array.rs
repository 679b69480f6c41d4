//! The base class of encrypted arrays: their parts and facts, and the operators of arrays that are one vector. Python
//! code has all other cases and every message.

use core::cell::Cell;

use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString, PyTuple, PyType};
use pyo3::{IntoPyObjectExt as _, intern};

use crate::call::{briefly, watched};
use crate::schemes::each;
use crate::trail::{joined, longer};
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

/// The public facts of a result.
struct Facts {
    length: Option<usize>,
    grid: Option<f64>,
    trail: Py<PyTuple>,
}

/// The result, or None if it is left to the Python method of the general case, which also explains refusals.
type Found = PyResult<Option<Values>>;

/// A public operand that needs no broadcasting.
enum Public<'py> {
    Number(Scalar),
    Row(Plain<'py>),
}

impl<'py> Public<'py> {
    /// Reads a contiguous vector.
    fn row(object: &Bound<'py, PyAny>) -> Option<Plain<'py>> {
        let array = object.is_exact_instance_of::<PyUntypedArray>();
        let row = array.then(|| object.extract::<Plain<'_>>().ok()).flatten()?;
        row.len_if_contiguous().filter(|values| *values > 0).map(|_| row)
    }

    /// Reads a number, or a contiguous vector of more than one value and of this length.
    fn of(object: &Bound<'py, PyAny>, length: Option<usize>) -> Option<Self> {
        if object.is_exact_instance_of::<PyUntypedArray>() {
            let row = Self::row(object)?;
            let values = row.len_if_contiguous();
            return (values == length && values > Some(1)).then_some(Self::Row(row));
        }
        let number = object.is_instance_of::<PyFloat>() || object.is_exact_instance_of::<PyInt>();
        number.then(|| object.extract().ok().map(Self::Number)).flatten()
    }
}

thread_local! {
    /// The array that [`made`] hands to [`Array::new`]. Arguments of the class take as long as a third of a sum: they
    /// become Python objects and are read again.
    static HANDED: Cell<Option<Array>> = const { Cell::new(None) };
}

/// Makes an array of a class of Python.
fn made<'py>(class: &Bound<'py, PyType>, array: Array) -> PyResult<Bound<'py, PyAny>> {
    let before = HANDED.replace(Some(array));
    let object = class.call0();
    HANDED.set(before);
    object
}

/// Slots up to which sums of vectors, and products with a number, take less than half a millisecond.
const FEW_SLOTS: usize = 1 << 14;

fn few(values: &Values) -> bool {
    each!(Values, values, vector => {
        vector.ciphertexts().len() * vector.context().params().degree() <= FEW_SLOTS
    })
}

/// Products of vectors switch keys.
fn never(_: &Values) -> bool {
    false
}

/// Real numbers are added beside the slots. Whole numbers are encoded, which takes longer.
fn adds_quickly(values: &Values, _: &Public<'_>) -> bool {
    matches!(values, Values::Reals(_)) && few(values)
}

fn multiplies_quickly(values: &Values, public: &Public<'_>) -> bool {
    matches!(public, Public::Number(_)) && few(values)
}

/// Runs an operation of two vectors.
macro_rules! vectors {
    ($short:expr, $a:ident, $b:ident => $result:expr) => {
        |py: Python<'_>, x: &Values, y: &Values| match (x, y) {
            (Values::Reals($a), Values::Reals($b)) => {
                Ok(briefly(py, $short(x), || $result)?.ok().map(Values::Reals))
            }
            (Values::Integers($a), Values::Integers($b)) => {
                Ok(briefly(py, $short(x), || $result)?.ok().map(Values::Integers))
            }
            _ => Ok(None),
        }
    };
}

/// Runs an operation of one vector.
macro_rules! one {
    ($py:ident, $a:ident => $result:expr) => {
        |values: &Values| match values {
            Values::Reals($a) => Ok(watched($py, || $result)?.ok().map(Values::Reals)),
            Values::Integers($a) => Ok(watched($py, || $result)?.ok().map(Values::Integers)),
        }
    };
}

/// Runs an operation of one vector with a public vector of the scheme.
macro_rules! with_row {
    ($py:ident, $row:ident, $a:ident, $c:ident => $result:expr) => {
        |values: &Values| match (values, &$row) {
            (Values::Reals($a), Plain::Reals(row)) => {
                let $c = row.as_slice()?;
                Ok(watched($py, || $result)?.ok().map(Values::Reals))
            }
            (Values::Integers($a), Plain::Integers(row)) => {
                let $c = row.as_slice()?;
                Ok(watched($py, || $result)?.ok().map(Values::Integers))
            }
            _ => Ok(None),
        }
    };
}

/// Runs an operation with a public number or vector of the scheme.
macro_rules! public {
    ($short:expr, $a:ident, $c:ident => $result:expr) => {
        |py, x, public| {
            let short = $short(x, &public);
            match (x, public) {
                (Values::Reals($a), Public::Number(number)) => {
                    let $c = number.real();
                    Ok(briefly(py, short, || $result)?.ok().map(Values::Reals))
                }
                (Values::Integers($a), Public::Number(Scalar::Integer($c))) => {
                    Ok(briefly(py, short, || $result)?.ok().map(Values::Integers))
                }
                (Values::Reals($a), Public::Row(Plain::Reals(row))) => {
                    let $c = row.as_slice()?;
                    Ok(briefly(py, short, || $result)?.ok().map(Values::Reals))
                }
                (Values::Integers($a), Public::Row(Plain::Integers(row))) => {
                    let $c = row.as_slice()?;
                    Ok(briefly(py, short, || $result)?.ok().map(Values::Integers))
                }
                _ => Ok(None),
            }
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
        if parts.is_none()
            && let Some(array) = HANDED.take()
        {
            return Ok(array);
        }
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
        add.run(slf, other, vectors!(few, a, b => a + b), public!(adds_quickly, a, c => a + c))
    }

    fn __radd__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Self::__add__(slf, other)
    }

    fn __sub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let general = intern!(slf.py(), "_subtract");
        let subtract = Operator { sign: intern!(slf.py(), "-"), general, keeps_grid: true };
        subtract.run(slf, other, vectors!(few, a, b => a - b), |_, _, _| Ok(None))
    }

    fn __rsub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(slf.call_method1(intern!(slf.py(), "_subtract_from"), (other,))?.unbind())
    }

    fn __mul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let general = intern!(slf.py(), "_multiply");
        let multiply = Operator { sign: intern!(slf.py(), "*"), general, keeps_grid: false };
        multiply.run(slf, other, vectors!(never, a, b => a * b), public!(multiplies_quickly, a, c => a * c))
    }

    fn __rmul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Self::__mul__(slf, other)
    }

    /// The array to a whole power of at least 2. This and the methods below return None for all that is left to the
    /// general case.
    fn _raised(slf: &Bound<'_, Self>, exponent: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let py = slf.py();
        if !exponent.is_exact_instance_of::<PyInt>() {
            return Ok(None);
        }
        match exponent.extract::<u32>() {
            Ok(2) => {
                let work = one!(py, a => a.square());
                Self::alone(slf, intern!(py, "** 2"), slf.get().length, None, work)
            }
            Ok(power) if power > 2 => {
                let sign = PyString::new(py, &format!("** {power}"));
                Self::alone(slf, &sign, slf.get().length, None, one!(py, a => a.pow(power)))
            }
            _ => Ok(None),
        }
    }

    /// The sum of the values in slots.
    fn _summed(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let (py, x) = (slf.py(), slf.get());
        if x.length.is_none() {
            return Ok(None);
        }
        Self::alone(slf, intern!(py, "sum"), None, x.grid, one!(py, a => a.sum()))
    }

    /// The inner product with another array, or with a contiguous public vector.
    fn _dotted(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let (py, x, sign) = (slf.py(), slf.get(), intern!(slf.py(), "@"));
        if x.length.is_none() {
            return Ok(None);
        }
        if let Ok(other) = other.cast::<Self>() {
            let y = other.get();
            let (Some(a), Some(b), true) = (x.open_vector(), y.open_vector(), x.length == y.length) else {
                return Ok(None);
            };
            let run = vectors!(never, a, b => a.dot(b));
            let found: Found = run(py, a, b);
            let Some(values) = found? else { return Ok(None) };
            let facts = Facts { length: None, grid: None, trail: joined(py, &x.trail, &y.trail)? };
            return Self::resulting(slf, sign, values, levels(a).min(levels(b)), facts).map(Some);
        }
        match Public::of(other, x.length) {
            Some(Public::Row(row)) => {
                Self::alone(slf, sign, None, None, with_row!(py, row, a, c => a.dot_plain(c)))
            }
            _ => Ok(None),
        }
    }

    /// c0 + c1·x + c2·x² + … of a contiguous vector of coefficients.
    fn _polynomial(slf: &Bound<'_, Self>, coefficients: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let (py, length) = (slf.py(), slf.get().length);
        let Some(row) = Public::row(coefficients) else { return Ok(None) };
        let work = with_row!(py, row, a, c => a.polynomial(c));
        Self::alone(slf, intern!(py, "polynomial"), length, None, work)
    }

    /// The values with the indices in a contiguous vector of int64.
    fn _selected(slf: &Bound<'_, Self>, indices: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let (py, x) = (slf.py(), slf.get());
        let (Some(Plain::Integers(row)), Some(length)) = (Public::row(indices), x.length) else {
            return Ok(None);
        };
        let place = |index: &i64| match usize::try_from(*index) {
            Ok(index) => Some(index),
            Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
        };
        let wanted: Option<Vec<usize>> = row.as_slice()?.iter().map(place).collect();
        let Some(wanted) = wanted.filter(|wanted| wanted.iter().all(|index| *index < length)) else {
            return Ok(None);
        };
        let work = one!(py, a => a.select(&wanted));
        Self::alone(slf, intern!(py, "[…]"), Some(wanted.len()), x.grid, work)
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
                    let trail = joined(py, &x.trail, &y.trail)?;
                    let facts = Facts { length: x.length, grid, trail };
                    return Array::resulting(slf, self.sign, values, levels(a).min(levels(b)), facts);
                }
            } else if let Some(operand) = Public::of(other, x.length)
                && let Some(values) = public(py, a, operand)?
            {
                let facts = Facts { length: x.length, grid: None, trail: x.trail.clone_ref(py) };
                return Array::resulting(slf, self.sign, values, levels(a), facts);
            }
        }
        Ok(slf.call_method1(self.general, (other,))?.unbind())
    }
}

impl Array {
    /// Makes the array of a result. Its trail grows if it has fewer levels left than `before`.
    fn resulting<'py>(
        slf: &Bound<'py, Self>,
        sign: &Bound<'py, PyString>,
        values: Values,
        before: usize,
        facts: Facts,
    ) -> PyResult<Py<PyAny>> {
        let (py, Facts { length, grid, trail }) = (slf.py(), facts);
        let trail = if levels(&values) < before { longer(py, &trail, sign)? } else { trail };
        let parts = Parts::One(Py::new(py, Vector(values))?);
        Ok(made(&slf.get_type(), Self { parts, length, grid, finish: None, trail })?.unbind())
    }

    /// Returns the resulting array of an operation on the one vector, or None if it is left to the general case.
    fn alone<'py>(
        slf: &Bound<'py, Self>,
        sign: &Bound<'py, PyString>,
        length: Option<usize>,
        grid: Option<f64>,
        work: impl FnOnce(&Values) -> Found,
    ) -> PyResult<Option<Py<PyAny>>> {
        let Some(values) = slf.get().open_vector() else { return Ok(None) };
        let Some(result) = work(values)? else { return Ok(None) };
        let facts = Facts { length, grid, trail: slf.get().trail.clone_ref(slf.py()) };
        Self::resulting(slf, sign, result, levels(values), facts).map(Some)
    }

    /// The one vector of an array of values in slots, without a resolution or a last step.
    pub(crate) fn row(&self) -> Option<&Values> {
        self.open_vector().filter(|_| self.length.is_some() && self.grid.is_none())
    }

    /// The one vector of an array that is not finished.
    fn open_vector(&self) -> Option<&Values> {
        match (&self.parts, &self.finish) {
            (Parts::One(vector), None) => Some(&vector.get().0),
            _ => None,
        }
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
