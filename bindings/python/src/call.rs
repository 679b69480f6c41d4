//! Long calls: without the interpreter's lock, interruptible, with reports of their progress.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::OrRaise as _;

/// Time between two looks at Python's signals.
const EVERY: Duration = Duration::from_millis(100);

/// Runs a call without the interpreter's lock. Ten times a second, between two of its steps, Python handles signals and
/// hears of the progress; an exception there (KeyboardInterrupt) ends the call.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> sotto::Result<T> + Send,
) -> PyResult<T> {
    let raised = Arc::new(Mutex::new(None));
    let raised_by = Arc::clone(&raised);
    let result = py.detach(|| {
        let observer = move |progress: sotto::Progress| match Python::attach(|py| report(py, progress)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                *raised_by.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                ControlFlow::Break(())
            }
        };
        sotto::watched_every(EVERY, observer, work)
    });
    let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    match raised {
        Some(error) => Err(error),
        None => result.or_raise(py),
    }
}

fn report(py: Python<'_>, progress: sotto::Progress) -> PyResult<()> {
    py.check_signals()?;
    py.import("sotto._progress")?.call_method1("within", (progress.done, progress.total))?;
    Ok(())
}
