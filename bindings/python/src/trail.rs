//! Trails: the lines of the caller's program that used levels, for the message of the line that finds none left. Written
//! here because Python code that runs after a long operation is no longer in the processor's caches.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};

/// Returns a trail and the line that called the package, as `_parts.longer` does.
pub(crate) fn longer<'py>(
    py: Python<'py>,
    trail: &Py<PyTuple>,
    operation: &Bound<'py, PyString>,
) -> PyResult<Py<PyTuple>> {
    let (trail, step) = (trail.bind(py), caller(py, operation)?);
    if trail.contains(&step)? {
        return Ok(trail.clone().unbind());
    }
    let steps: Vec<_> = trail.iter().chain([step.into_any()]).collect();
    Ok(PyTuple::new(py, steps)?.unbind())
}

/// Returns the steps of two trails, each once, as `_parts.joined` does.
pub(crate) fn joined(py: Python<'_>, one: &Py<PyTuple>, other: &Py<PyTuple>) -> PyResult<Py<PyTuple>> {
    if one.is(other) || other.bind(py).is_empty() {
        return Ok(one.clone_ref(py));
    }
    if one.bind(py).is_empty() {
        return Ok(other.clone_ref(py));
    }
    let joined =
        py.import(intern!(py, "sotto._parts"))?.getattr(intern!(py, "joined"))?.call1((one, other))?;
    Ok(joined.cast_into::<PyTuple>()?.unbind())
}

/// Returns the nearest line outside the package: file, line, operation.
fn caller<'py>(py: Python<'py>, operation: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyTuple>> {
    static FRAME: PyOnceLock<(Py<PyAny>, String)> = PyOnceLock::new();
    let (frame_of, package) = FRAME.get_or_try_init(py, || -> PyResult<_> {
        let frame_of = py.import("sys")?.getattr("_getframe")?.unbind();
        Ok((frame_of, py.import("sotto._parts")?.getattr("_HERE")?.extract()?))
    })?;
    let mut frame = frame_of.bind(py).call0()?;
    loop {
        let file = frame.getattr(intern!(py, "f_code"))?.getattr(intern!(py, "co_filename"))?;
        let back = frame.getattr(intern!(py, "f_back"))?;
        if back.is_none() || !file.cast::<PyString>()?.to_string_lossy().starts_with(package.as_str()) {
            let line = frame.getattr(intern!(py, "f_lineno"))?;
            return PyTuple::new(py, [file, line, operation.clone().into_any()]);
        }
        frame = back;
    }
}
