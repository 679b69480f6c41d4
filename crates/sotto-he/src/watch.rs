//! Progress and interruption of long calls.

use core::ops::ControlFlow;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

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

/// An observer, and the time before which it is not called.
struct Watch<O: ?Sized> {
    every: Duration,
    next: Cell<Instant>,
    observer: O,
}

type Observer = Rc<Watch<dyn Fn(Progress) -> ControlFlow<()>>>;

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
    watched_every(Duration::ZERO, observer, work)
}

/// Like [`watched`], with `every` between two calls of `observer`, and before the first one. A shorter `work` costs nothing
/// more: its steps, which takes a dry run with public operands encoded, are counted at the first call.
///
/// ```
/// use std::ops::ControlFlow;
/// use std::time::Duration;
/// use sotto::{Ckks, Context, watched_every};
///
/// let context = Context::<Ckks>::for_depth(1)?;
/// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
/// let stop = |_: sotto::Progress| ControlFlow::Break(());
/// assert!(watched_every(Duration::from_secs(3600), stop, || secret.encrypt(&[1.5])).is_ok());
/// # Ok::<(), sotto::Error>(())
/// ```
pub fn watched_every<T>(
    every: Duration,
    observer: impl Fn(Progress) -> ControlFlow<()> + 'static,
    work: impl FnOnce() -> T,
) -> T {
    /// Brings the outer observer back, also when `work` panics.
    struct Restore(Option<Observer>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OBSERVER.set(self.0.take());
        }
    }
    let next = Cell::new(Instant::now() + every);
    let _restore = Restore(OBSERVER.replace(Some(Rc::new(Watch { every, next, observer }))));
    work()
}

/// Counts the steps of one call for this thread's observer.
pub(crate) struct Steps<F> {
    watch: Option<Observer>,
    done: Cell<usize>,
    count: F,
    total: OnceCell<usize>,
}

impl<F: Fn() -> usize> Steps<F> {
    /// Starts a call of `count()` steps, which are counted when the observer is called first.
    pub(crate) fn of(count: F) -> Self {
        let watch = OBSERVER.with_borrow(Clone::clone);
        Self { watch, done: Cell::new(0), count, total: OnceCell::new() }
    }

    /// Reports a step.
    pub(crate) fn step(&self) -> ControlFlow<()> {
        let Some(watch) = &self.watch else { return ControlFlow::Continue(()) };
        let done = self.done.get() + 1;
        self.done.set(done);
        if Instant::now() < watch.next.get() {
            return ControlFlow::Continue(());
        }
        let total = *self.total.get_or_init(&self.count);
        let flow = (watch.observer)(Progress { done, total: total.max(done) });
        watch.next.set(Instant::now() + watch.every);
        flow
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
