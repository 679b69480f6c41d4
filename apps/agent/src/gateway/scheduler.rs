//! The devices that something has to be done for, now or at a time. A few threads share one: a device is with one thread at
//! a time.

use std::cmp::Ordering as Order;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::member::Member;
use super::turn::{AGAIN, IDLE, Kind, READY, TAKEN};

/// A scheduler.
pub(super) struct Scheduler {
    kind: Kind,
    plan: Mutex<Plan>,
    changed: Condvar,
}

#[derive(Default)]
struct Plan {
    ready: VecDeque<Arc<Member>>,
    later: BinaryHeap<Later>,
    taken: usize,
    ended: bool,
}

struct Later {
    at: Instant,
    member: Arc<Member>,
}

impl PartialEq for Later {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Later {}

impl PartialOrd for Later {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

/// The earliest is the greatest: a heap gives that first.
impl Ord for Later {
    fn cmp(&self, other: &Self) -> Order {
        other.at.cmp(&self.at)
    }
}

impl Scheduler {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, plan: Mutex::default(), changed: Condvar::new() }
    }

    /// Asks for a device now.
    pub(super) fn push(&self, member: &Arc<Member>) {
        let mut plan = self.lock();
        if self.ask(&mut plan, member) {
            self.changed.notify_one();
        }
    }

    /// Asks for a device after a time, unless it is asked for before that.
    pub(super) fn push_after(&self, member: &Arc<Member>, wait: Duration) {
        let (now, mut plan) = (Instant::now(), self.lock());
        let at = now + wait;
        let mut due = member.turn(self.kind).due.lock().unwrap_or_else(PoisonError::into_inner);
        if due.is_some_and(|due| due > now && due <= at) {
            return;
        }
        *due = Some(at);
        let is_first = plan.later.peek().is_none_or(|first| at < first.at);
        plan.later.push(Later { at, member: Arc::clone(member) });
        if is_first {
            self.changed.notify_one();
        }
    }

    /// Waits for the next device. Returns `None` once the scheduler has ended.
    pub(super) fn next(&self) -> Option<Arc<Member>> {
        let mut plan = self.lock();
        loop {
            if plan.ended {
                return None;
            }
            let now = Instant::now();
            while plan.later.peek().is_some_and(|first| first.at <= now) {
                if let Some(Later { member, .. }) = plan.later.pop() {
                    self.ask(&mut plan, &member);
                }
            }
            if let Some(member) = plan.ready.pop_front() {
                member.turn(self.kind).state.store(TAKEN, Ordering::Relaxed);
                plan.taken += 1;
                if !plan.ready.is_empty() {
                    self.changed.notify_one();
                }
                return Some(member);
            }
            let wait = plan.later.peek().map_or(Duration::from_secs(60), |first| first.at - now);
            plan = self.changed.wait_timeout(plan, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Gives a device back that [`Scheduler::next`] returned.
    pub(super) fn done(&self, member: &Arc<Member>) {
        let mut plan = self.lock();
        plan.taken -= 1;
        let again = member.turn(self.kind).state.swap(IDLE, Ordering::Relaxed) == AGAIN;
        if again && self.ask(&mut plan, member) {
            self.changed.notify_one();
        }
    }

    /// Returns true if no device is ready or taken.
    pub(super) fn is_idle(&self) -> bool {
        let plan = self.lock();
        plan.ready.is_empty() && plan.taken == 0
    }

    /// Ends every wait, and all further work.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// Returns true if the device is ready by that.
    fn ask(&self, plan: &mut Plan, member: &Arc<Member>) -> bool {
        let state = &member.turn(self.kind).state;
        match state.load(Ordering::Relaxed) {
            IDLE => {
                state.store(READY, Ordering::Relaxed);
                plan.ready.push_back(Arc::clone(member));
                true
            }
            TAKEN => {
                state.store(AGAIN, Ordering::Relaxed);
                false
            }
            _ => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
