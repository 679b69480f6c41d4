//! How many threads compute: the one switch.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use core_affinity::CoreId;
use sotto_ring::parallel;

/// The threads that a computation may use. What it computes does not depend on them, bit for bit.
#[derive(Clone, Debug, Default)]
pub struct Threads(Option<Arc<Pool>>);

#[derive(Debug)]
struct Pool {
    threads: rayon::ThreadPool,
    _cores: Option<Cores>,
}

/// The operating system starts no more threads.
#[derive(Debug, thiserror::Error)]
#[error("{wanted} threads cannot be started: {reason}")]
pub struct ThreadsError {
    wanted: usize,
    reason: rayon::ThreadPoolBuildError,
}

/// The right of one pool of this process to keep its threads to one core each. A thread that wakes others still runs when the
/// scheduler looks for their cores, so two of them come to share one while the caller's falls idle: for tens of milliseconds on Linux
/// 6.18. Threads of two pools that were kept to the same cores would share one while others are idle, for as long as they run.
#[derive(Debug)]
struct Cores;

static TAKEN: AtomicBool = AtomicBool::new(false);

impl Cores {
    /// The right, and a core for each of so many threads, where the caller may run on as many and no other pool has it.
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
    /// The caller's thread alone.
    pub fn one() -> Self {
        Self(None)
    }

    /// So many; 0 takes one for each core that the system grants. Where they are as many as the (logical) cores that the caller may
    /// run on, each keeps to one of its own, if the system allows it and no other pool of the process does so. A thread that is
    /// started by what runs on them would keep to that core too: start none.
    ///
    /// # Errors
    /// Where the system starts no more.
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
            // Where the system refuses, its scheduler places the thread.
            let _placed = cores.get(number).is_some_and(|core| core_affinity::set_for_current(*core));
        };
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(wanted).thread_name(named).start_handler(place);
        let threads = pool.build().map_err(|reason| ThreadsError { wanted, reason })?;
        Ok(Self(Some(Arc::new(Pool { threads, _cores: right }))))
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.threads.current_num_threads())
    }

    /// Does the same to each item; results in the items' order.
    pub fn map<I: Send, O: Send>(&self, items: Vec<I>, each: impl Fn(I) -> O + Send + Sync) -> Vec<O> {
        use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
        match &self.0 {
            Some(pool) => {
                // Items come first; where there are fewer than threads, loops inside them are shared.
                let few = items.len() < pool.threads.current_num_threads();
                let each = |item| parallel::shared(few, || each(item));
                pool.threads.install(|| items.into_par_iter().map(each).collect())
            }
            None => items.into_iter().map(each).collect(),
        }
    }

    /// Has every thread do this once, when it has nothing else to do: nobody waits for another run on the same threads.
    pub(crate) fn later(&self, work: impl Fn() + Send + Sync + 'static) {
        match &self.0 {
            Some(pool) => pool.threads.spawn_broadcast(move |_| work()),
            None => work(),
        }
    }

    /// Gives a scope whose tasks all end before this does, or none where there is one thread only.
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
