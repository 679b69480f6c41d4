//! The threads of a computation.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use core_affinity::CoreId;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use sotto_ring::parallel;

/// The threads that a computation may use. Results do not depend on them, bit for bit.
///
/// ```
/// use sotto_runtime::{Threads, ThreadsError};
///
/// let two: Result<Threads, ThreadsError> = Threads::new(2);
/// let two = two?;
/// assert_eq!(two.count(), 2);
/// let celsius = vec![20.0, 58.0, 61.0];
/// assert_eq!(two.map(celsius, |reading| reading * 2.0), [40.0, 116.0, 122.0]);
/// # Ok::<(), ThreadsError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Threads(Option<Arc<Pool>>);

#[derive(Debug)]
struct Pool {
    threads: rayon::ThreadPool,
    _cores: Option<Cores>,
}

impl Pool {
    /// Calls `each` with every index below `count`. Not generic, so that rayon's code is compiled once and not for
    /// every caller.
    fn for_each(&self, count: usize, each: &(dyn Fn(usize) + Sync)) {
        // Items have precedence; if there are fewer items than threads, the loops inside them are shared.
        let few = count < self.threads.current_num_threads();
        let each = |index| parallel::shared(few, || each(index));
        self.threads.install(|| (0..count).into_par_iter().for_each(each));
    }
}

/// The operating system refuses to start threads.
///
/// Example: [`Threads`]
#[derive(Debug, thiserror::Error)]
#[error("{wanted} threads cannot be started: {reason}")]
pub struct ThreadsError {
    wanted: usize,
    reason: rayon::ThreadPoolBuildError,
}

/// The right of one pool in this process to pin its threads to one core each.
///
/// Without pinning two threads may share a core while another is idle, for tens of milliseconds on Linux 6.18: a thread
/// that wakes others still runs when the scheduler looks for cores. Only one pool may pin, because threads of two pools
/// pinned to the same cores would share a core while others are idle, for their whole run.
#[derive(Debug)]
struct Cores;

static TAKEN: AtomicBool = AtomicBool::new(false);

impl Cores {
    /// Returns the right and one core per thread, if the caller may run on exactly `count` cores and no other pool has
    /// the right.
    fn take(count: usize) -> Option<(Self, Vec<CoreId>)> {
        let cores = core_affinity::get_core_ids().filter(|cores| cores.len() == count)?;
        TAKEN.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        Some((Self, cores))
    }
}

impl Drop for Cores {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::Release);
    }
}

impl Threads {
    /// Uses the caller's thread alone.
    pub fn one() -> Self {
        Self(None)
    }

    /// Starts `count` threads; 0 means one per core that the system grants.
    ///
    /// If their number equals that of the (logical) cores that the caller may run on, each thread is pinned to a core
    /// of its own, provided that the system allows it and no other pool of the process does so. Work on these threads
    /// must not start threads, which would inherit the pinning.
    ///
    /// # Errors
    /// [`ThreadsError`] if the system refuses to start the threads.
    pub fn new(count: usize) -> Result<Self, ThreadsError> {
        let wanted = match count {
            0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            count => count,
        };
        if wanted == 1 {
            return Ok(Self::one());
        }
        let named = |number| format!("compute-{number}");
        let (right, cores) = Cores::take(wanted).unzip();
        let cores = cores.unwrap_or_default();
        let place = move |number: usize| {
            // If the system refuses, the scheduler places the thread.
            let _placed = cores.get(number).is_some_and(|core| core_affinity::set_for_current(*core));
        };
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(wanted).thread_name(named).start_handler(place);
        let threads = pool.build().map_err(|reason| ThreadsError { wanted, reason })?;
        Ok(Self(Some(Arc::new(Pool { threads, _cores: right }))))
    }

    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.threads.current_num_threads())
    }

    /// Applies `each` to every item. Returns the results in the items' order.
    pub fn map<I: Send, O: Send>(&self, items: Vec<I>, each: impl Fn(I) -> O + Send + Sync) -> Vec<O> {
        let Some(pool) = &self.0 else { return items.into_iter().map(each).collect() };
        let own = |place| Mutex::new((Some(place), None));
        let places: Vec<Mutex<(Option<I>, Option<O>)>> = items.into_iter().map(own).collect();
        pool.for_each(places.len(), &|index| {
            let mut place = places[index].lock().unwrap_or_else(PoisonError::into_inner);
            place.1 = place.0.take().map(&each);
        });
        let output =
            |place: Mutex<(_, Option<O>)>| place.into_inner().unwrap_or_else(PoisonError::into_inner).1;
        places.into_iter().filter_map(output).collect()
    }

    /// Makes every thread run `work` once when it is idle, so nobody waits for another run on the same threads.
    pub(crate) fn later(&self, work: impl Fn() + Send + Sync + 'static) {
        match &self.0 {
            Some(pool) => pool.threads.spawn_broadcast(move |_| work()),
            None => work(),
        }
    }

    /// Calls `work` with a scope whose tasks all end before this function returns; with None if there is only one
    /// thread.
    pub(crate) fn scope<'scope>(&self, work: impl FnOnce(Option<&rayon::Scope<'scope>>) + Send) {
        match &self.0 {
            Some(pool) => pool.threads.in_place_scope(|scope| work(Some(scope))),
            None => work(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pool_keeps_to_the_cores_until_it_is_gone() {
        let Some(count) = core_affinity::get_core_ids().map(|cores| cores.len()) else { return };
        assert!(Cores::take(count + 1).is_none(), "more threads than cores");
        let (first, cores) = Cores::take(count).expect("no other pool in these tests");
        assert_eq!(cores.len(), count);
        assert!(Cores::take(count).is_none(), "a second pool");
        drop(first);
        assert!(Cores::take(count).is_some());
    }
}
