//! Early ends of work: by a signal such as Ctrl-C, a caller's check, or an exception of a progress callback.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use sotto_owner::{CloudError, Interrupt, OwnerError};

/// Callbacks of one piece of work, and the exception that ends it.
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Watched>);

#[derive(Default)]
struct Watched {
    /// Called with the number of finished windows and the most that there are.
    progress: Option<Py<PyAny>>,
    /// Returns true to end the work.
    stop: Option<Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    pub(super) fn new(progress: Option<Py<PyAny>>, stop: Option<Py<PyAny>>) -> Self {
        Self(Arc::new(Watched { progress, stop, raised: Mutex::default() }))
    }

    /// Returns the check before each request.
    pub(super) fn interrupt(&self) -> Interrupt {
        let watch = self.clone();
        Interrupt::when(move || watch.is_over())
    }

    /// Calls the progress callback. Its exception ends the work.
    pub(super) fn tell(&self, done: u64, total: u64) {
        let Some(progress) = &self.0.progress else { return };
        if let Err(error) = Python::attach(|py| progress.call1(py, (done, total))) {
            self.keep(error);
        }
    }

    /// Fails if the work is over: the last request may have been sent before that was known.
    pub(super) fn proceed(&self, what: &'static str) -> Result<(), OwnerError> {
        if self.is_over() { Err(CloudError::Interrupted { what }.into()) } else { Ok(()) }
    }

    /// Returns the exception that ended the work, or that a signal raises now.
    pub(super) fn exception(&self, py: Python<'_>) -> Option<PyErr> {
        let raised = self.0.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A signal may have broken a request instead of being seen between two.
        raised.or_else(|| py.check_signals().err())
    }

    fn is_over(&self) -> bool {
        let checked = Python::attach(|py| {
            py.check_signals()?;
            match &self.0.stop {
                Some(stop) => stop.call0(py)?.is_truthy(py),
                None => Ok(false),
            }
        });
        checked.unwrap_or_else(|error| {
            self.keep(error);
            true
        }) || self.0.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn keep(&self, error: PyErr) {
        self.0.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}
