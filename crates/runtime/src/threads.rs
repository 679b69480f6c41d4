//! How many threads compute: the one switch.

use std::num::NonZeroUsize;
use std::sync::Arc;

use core_affinity::CoreId;
use sotto_ring::parallel;

/// The threads that a computation may use. What it computes does not depend on them, bit for bit.
#[derive(Clone, Debug, Default)]
pub struct Threads(Option<Arc<rayon::ThreadPool>>);

/// The operating system starts no more threads.
#[derive(Debug, thiserror::Error)]
#[error("{wanted} threads cannot be started: {reason}")]
pub struct ThreadsError {
    wanted: usize,
    reason: rayon::ThreadPoolBuildError,
}

/// A core for each of so many threads, or none. A thread that wakes others still runs when the scheduler looks for their cores, so two
/// of them come to share one while the caller's falls idle: for tens of milliseconds on Linux 6.18.
fn own_cores(count: usize) -> Vec<CoreId> {
    core_affinity::get_core_ids().filter(|cores| cores.len() == count).unwrap_or_default()
}

impl Threads {
    /// The caller's thread alone.
    pub fn one() -> Self {
        Self(None)
    }

    /// So many; 0 takes one for each core that the system grants. Where they are as many as the cores that this process may run on,
    /// each stays on a core of its own.
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
        let cores = own_cores(wanted);
        let place = move |number: usize| {
            // Where the system refuses, its scheduler places the thread.
            let _placed = cores.get(number).is_some_and(|core| core_affinity::set_for_current(*core));
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(wanted)
            .thread_name(named)
            .start_handler(place)
            .build();
        Ok(Self(Some(Arc::new(pool.map_err(|reason| ThreadsError { wanted, reason })?))))
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Does the same to each item; results in the items' order.
    pub fn map<I: Send, O: Send>(&self, items: Vec<I>, each: impl Fn(I) -> O + Send + Sync) -> Vec<O> {
        use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
        match &self.0 {
            Some(pool) => {
                // Items come first; where there are fewer than threads, loops inside them are shared.
                let few = items.len() < pool.current_num_threads();
                let each = |item| parallel::shared(few, || each(item));
                pool.install(|| items.into_par_iter().map(each).collect())
            }
            None => items.into_iter().map(each).collect(),
        }
    }

    /// Has every thread do this once, when it has nothing else to do: nobody waits for another run on the same threads.
    pub(crate) fn later(&self, work: impl Fn() + Send + Sync + 'static) {
        match &self.0 {
            Some(pool) => pool.spawn_broadcast(move |_| work()),
            None => work(),
        }
    }

    /// Gives a scope whose tasks all end before this does, or none where there is one thread only.
    pub(crate) fn scope<'scope>(&self, work: impl FnOnce(Option<&rayon::Scope<'scope>>) + Send) {
        match &self.0 {
            Some(pool) => pool.in_place_scope(|scope| work(Some(scope))),
            None => work(None),
        }
    }
}
