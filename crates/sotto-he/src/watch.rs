//! Progress and interruption of long calls.

use core::ops::ControlFlow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::error::{Error, Result};

/// The part of a call that is done. Units are ciphertexts when values are encrypted or decrypted, and operations on
/// ciphertexts otherwise. A call of two stages, like an inner product, counts each of them from 1.
///
/// Example: [`watched`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Units done, from 1 to `total`.
    pub done: usize,
    /// Units of the call.
    pub total: usize,
}

type Observer = Rc<dyn Fn(Progress) -> ControlFlow<()>>;

thread_local! {
    static OBSERVER: RefCell<Option<Observer>> = const { RefCell::new(None) };
}

/// Runs `work` on this thread and calls `observer` between its steps. A break stops the running call with
/// [`Error::Interrupted`]; calls that only add are too short to be stopped.
///
/// ```
/// use std::ops::ControlFlow;
/// use sotto::{Ckks, Context, Error, watched};
///
/// let context = Context::<Ckks>::for_depth(1)?;
/// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
/// let values = vec![1.5; 3 * context.slots()];
/// let stop_after_two = |progress: sotto::Progress| match progress.done {
///     2 => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// };
/// let stopped = watched(stop_after_two, || secret.encrypt(&values));
/// assert!(matches!(stopped, Err(Error::Interrupted)));
/// # Ok::<(), Error>(())
/// ```
pub fn watched<T>(observer: impl Fn(Progress) -> ControlFlow<()> + 'static, work: impl FnOnce() -> T) -> T {
    /// Brings the outer observer back, also when `work` panics.
    struct Restore(Option<Observer>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OBSERVER.set(self.0.take());
        }
    }
    let _restore = Restore(OBSERVER.replace(Some(Rc::new(observer))));
    work()
}

/// Counts the steps of one call for this thread's observer.
pub(crate) struct Steps {
    observer: Option<Observer>,
    done: Cell<usize>,
    total: usize,
}

impl Steps {
    /// Starts a call of `total` steps, which is computed for an observer only.
    pub(crate) fn of(total: impl FnOnce() -> usize) -> Self {
        let observer = OBSERVER.with_borrow(Clone::clone);
        let total = if observer.is_some() { total() } else { 0 };
        Self { observer, done: Cell::new(0), total }
    }

    /// Reports a step.
    pub(crate) fn step(&self) -> ControlFlow<()> {
        let Some(observer) = &self.observer else { return ControlFlow::Continue(()) };
        self.done.set(self.done.get() + 1);
        observer(Progress { done: self.done.get(), total: self.total.max(self.done.get()) })
    }

    /// Reports a step; a break is an error.
    pub(crate) fn proceed(&self) -> Result<()> {
        match self.step() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }
}

/// Maps every item, one step each.
pub(crate) fn each<T, U>(items: &[T], mut run: impl FnMut(&T) -> Result<U>) -> Result<Vec<U>> {
    let steps = Steps::of(|| items.len());
    let one = |item| {
        let result = run(item)?;
        steps.proceed()?;
        Ok(result)
    };
    items.iter().map(one).collect()
}
