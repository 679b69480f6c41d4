//! Long calls: without the interpreter's lock, interruptible, with reports of their progress.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::OrRaise as _;

/// Time between two looks at Python's signals.
const EVERY: Duration = Duration::from_millis(100);

/// Python's side of a call: the exception that ends it, and whether a report was made.
#[derive(Default)]
struct Heard {
    raised: Mutex<Option<PyErr>>,
    reported: AtomicBool,
}

/// Runs a call without the interpreter's lock. Ten times a second, between two of its steps, Python handles signals and
/// hears of the progress; an exception there (KeyboardInterrupt) ends the call.
pub(crate) fn watched<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let heard = Arc::new(Heard::default());
    let heard_by = Arc::clone(&heard);
    let result = py.detach(|| {
        let started = Instant::now();
        let observer = move |progress: sotto::Progress| {
            heard_by.reported.store(true, Ordering::Relaxed);
            match Python::attach(|py| report(py, progress, started.elapsed())) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    *heard_by.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        sotto::watched_every(EVERY, observer, work)
    });
    if heard.reported.load(Ordering::Relaxed) {
        let ended = py.import("sotto._progress").and_then(|module| module.call_method0("ended"));
        let raised = heard.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.map_or(ended.map(drop), Err)?;
    }
    Ok(result)
}

/// Runs a call like [`watched`], or with the interpreter's lock if it is `short`: too short to be stopped, and shorter
/// than the 5 ms after which a busy thread gives the lock back.
pub(crate) fn briefly<T: Send>(py: Python<'_>, short: bool, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if short { Ok(work()) } else { watched(py, work) }
}

/// Runs a call like [`watched`], and raises its error.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> sotto::Result<T> + Send,
) -> PyResult<T> {
    watched(py, work)?.or_raise(py)
}

fn report(py: Python<'_>, progress: sotto::Progress, elapsed: Duration) -> PyResult<()> {
    py.check_signals()?;
    let arguments = (progress.done, progress.total, elapsed.as_secs_f64());
    py.import("sotto._progress")?.call_method1("within", arguments)?;
    Ok(())
}
