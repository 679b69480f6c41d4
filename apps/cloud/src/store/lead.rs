//! Uploads that wait for a commit, and the lead: the right to store them.

use std::mem;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::StoreError;
use super::earlier::EarlierUpload;
use super::upload::Upload;
use crate::id::Id;

/// Maximum uploads, alone or as groups, of one commit.
const MOST: usize = 1024;

/// The outcomes of uploads, or the refusal of one of them with its index.
pub(crate) type Kept = Result<Vec<EarlierUpload>, (usize, EarlierUpload)>;

/// Uploads of one stream of a device.
pub(crate) struct New {
    pub(crate) uploads: Arc<Vec<Upload>>,
    /// The indexes of those to store.
    pub(crate) new: Vec<usize>,
    /// The key of their signatures.
    pub(crate) verifying_key: [u8; 32],
    /// The number of changes of the database at which [`earlier`](super::Store::earlier) found none of them.
    pub(crate) checked_at: u64,
}

impl New {
    pub(super) fn ids(&self) -> Result<Vec<Id>, StoreError> {
        self.new.iter().map(|index| self.uploads[*index].new_id()).collect()
    }
}

/// Uploads that wait for a commit.
pub(super) struct Waiting {
    pub(super) new: New,
    pub(super) ids: Vec<Id>,
    pub(super) waiter: Waiter,
}

/// The recipient of an outcome.
pub(super) enum Waiter {
    Thread(Sender<Told>),
    Task {
        tell: oneshot::Sender<Result<Kept, StoreError>>,
        /// Starts a thread that leads. None once it was asked to.
        lead: Option<Box<dyn FnOnce(Lead) + Send>>,
    },
}

impl Waiter {
    pub(super) fn tell(self, kept: Result<Kept, StoreError>) {
        // Nobody waits for it if its thread panicked, or the process ends.
        match self {
            Self::Thread(tell) => drop(tell.send(Told::Stored(kept))),
            Self::Task { tell, .. } => drop(tell.send(kept)),
        }
    }
}

/// What a thread that waits is told.
pub(super) enum Told {
    /// Store all that wait.
    Lead,
    Stored(Result<Kept, StoreError>),
}

/// The uploads that wait, and whether a thread leads.
#[derive(Default)]
struct Gathered {
    waiting: Vec<Waiting>,
    is_led: bool,
}

/// The uploads that wait.
#[derive(Clone, Default)]
pub(super) struct Commits(Arc<Mutex<Gathered>>);

impl Commits {
    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds uploads to those that wait. Returns the lead if nobody has it.
    pub(super) fn add(&self, waiting: Waiting) -> Option<Lead> {
        let mut gathered = self.gathered();
        gathered.waiting.push(waiting);
        let leads = !mem::replace(&mut gathered.is_led, true);
        leads.then(|| Lead(self.clone()))
    }
}

/// The lead. It goes to the next upload that waits when it is dropped, after a panic too.
pub(crate) struct Lead(Commits);

impl Lead {
    /// Returns the lead of a thread that was told to lead.
    pub(super) fn of(commits: &Commits) -> Self {
        Self(commits.clone())
    }

    /// Takes the uploads that have waited longest: those of this thread among them.
    pub(super) fn take(&self) -> Vec<Waiting> {
        let waiting = &mut self.0.gathered().waiting;
        let left = waiting.split_off(waiting.len().min(MOST));
        mem::replace(waiting, left)
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let start = {
            let mut gathered = self.0.gathered();
            loop {
                let Some(next) = gathered.waiting.first_mut() else {
                    gathered.is_led = false;
                    return;
                };
                match &mut next.waiter {
                    Waiter::Thread(tell) if tell.send(Told::Lead).is_ok() => return,
                    Waiter::Task { lead: Some(_), .. } => {}
                    // A thread that does not hear has panicked, and so has one that was started and left this here.
                    _ => drop(gathered.waiting.remove(0)),
                }
                if let Some(Waiting { waiter: Waiter::Task { lead, .. }, .. }) = gathered.waiting.first_mut()
                    && let Some(start) = lead.take()
                {
                    break start;
                }
            }
        };
        start(Self(self.0.clone()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver};

    use super::*;

    fn waiting(waiter: Waiter) -> Waiting {
        let new = New { uploads: Arc::default(), new: Vec::new(), verifying_key: [0; 32], checked_at: 0 };
        Waiting { new, ids: Vec::new(), waiter }
    }

    fn thread() -> (Waiting, Receiver<Told>) {
        let (tell, told) = mpsc::channel();
        (waiting(Waiter::Thread(tell)), told)
    }

    type Outcome = oneshot::Receiver<Result<Kept, StoreError>>;

    fn task(lead: impl FnOnce(Lead) + Send + 'static) -> (Waiting, Outcome) {
        let (tell, told) = oneshot::channel();
        (waiting(Waiter::Task { tell, lead: Some(Box::new(lead)) }), told)
    }

    #[test]
    fn the_lead_goes_to_the_first_that_waits() {
        let commits = Commits::default();
        let (first, _) = thread();
        let lead = commits.add(first).unwrap();
        assert_eq!(lead.take().len(), 1);
        let (started, start) = mpsc::channel();
        let (second, mut outcome) = task(move |lead| started.send(lead).unwrap());
        let (third, told) = thread();
        assert!(commits.add(second).is_none() && commits.add(third).is_none());
        drop(lead);
        let lead: Lead = start.try_recv().unwrap();
        assert!(told.try_recv().is_err(), "the task before it leads");
        let mut taken = lead.take().into_iter();
        taken.next().unwrap().waiter.tell(Ok(Ok(Vec::new())));
        assert!(matches!(outcome.try_recv(), Ok(Ok(Ok(_)))));
        let (fourth, told) = thread();
        assert!(commits.add(fourth).is_none());
        drop(lead);
        assert!(matches!(told.try_recv(), Ok(Told::Lead)));
    }

    #[test]
    fn nobody_is_left_when_those_that_lead_are_gone() {
        let commits = Commits::default();
        let (first, _) = thread();
        let lead = commits.add(first).unwrap();
        drop(lead.take());
        // A runtime that ends drops the work that it did not start; a thread that panicked does not hear.
        let (dropped, mut outcome) = task(drop);
        let (gone, told) = thread();
        drop(told);
        let (last, told) = thread();
        for waiting in [dropped, gone, last] {
            assert!(commits.add(waiting).is_none());
        }
        drop(lead);
        assert!(outcome.try_recv().is_err(), "its upload is not stored");
        assert!(matches!(told.try_recv(), Ok(Told::Lead)));
        drop(Lead(commits.clone()).take());
        drop(Lead(commits.clone()));
        let (next, _) = thread();
        assert!(commits.add(next).is_some(), "nobody leads");
    }
}
