//! The queue of jobs: submissions are refused when it is full; workers wait for jobs.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::id::Id;

/// The waiting jobs.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    capacity: usize,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Id>,
    /// Places reserved for submissions that are being checked.
    reserved: usize,
    closed: bool,
}

/// A reserved place in the queue; dropping it gives it back.
pub(crate) struct Place<'q> {
    queue: &'q Queue,
}

impl Queue {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), capacity }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a place for one job; `None` if the queue is full or closed.
    pub(crate) fn reserve(&self) -> Option<Place<'_>> {
        let mut state = self.state();
        if state.closed || state.waiting.len() + state.reserved >= self.capacity {
            return None;
        }
        state.reserved += 1;
        Some(Place { queue: self })
    }

    /// Adds jobs left from an earlier run, regardless of the capacity.
    pub(crate) fn extend(&self, jobs: impl IntoIterator<Item = Id>) {
        self.state().waiting.extend(jobs);
        self.changed.notify_all();
    }

    /// Waits for a job; returns `None` once the queue is closed. Jobs still waiting then are run after the next start.
    pub(crate) fn next(&self) -> Option<Id> {
        let state = self.state();
        let nothing = |state: &mut State| !state.closed && state.waiting.is_empty();
        let mut state = self.changed.wait_while(state, nothing).unwrap_or_else(PoisonError::into_inner);
        if state.closed { None } else { state.waiting.pop_front() }
    }

    /// Removes a job that waits.
    pub(crate) fn remove(&self, job: Id) {
        self.state().waiting.retain(|waiting| *waiting != job);
    }

    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }
}

impl Place<'_> {
    pub(crate) fn fill(self, job: Id) {
        self.queue.state().waiting.push_back(job);
        self.queue.changed.notify_one();
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.queue.state().reserved -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_places_count_and_come_back() {
        let queue = Queue::new(2);
        let (first, second) = (queue.reserve().unwrap(), queue.reserve().unwrap());
        assert!(queue.reserve().is_none());
        first.fill(Id([1; 16]));
        assert!(queue.reserve().is_none());
        drop(second);
        drop(queue.reserve().unwrap());
        assert_eq!(queue.next(), Some(Id([1; 16])));
    }

    #[test]
    fn a_job_that_is_removed_gives_its_place_back() {
        let queue = Queue::new(2);
        queue.reserve().unwrap().fill(Id([1; 16]));
        queue.reserve().unwrap().fill(Id([2; 16]));
        queue.remove(Id([1; 16]));
        queue.remove(Id([3; 16]));
        assert!(queue.reserve().is_some());
        assert_eq!(queue.next(), Some(Id([2; 16])));
    }

    #[test]
    fn closing_wakes_who_waits_and_keeps_what_is_left() {
        let queue = Queue::new(1);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.next());
            queue.close();
            assert_eq!(waiting.join().unwrap(), None);
        });
        queue.extend([Id([1; 16])]);
        assert!(queue.next().is_none() && queue.reserve().is_none());
    }
}
