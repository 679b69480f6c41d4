//! One commit, and so one sync of the disk, for all uploads that wait for it.
//!
//! A thread that has to store uploads adds them to the list of those that wait. The first one leads: it stores all that wait,
//! itself included, then hands over to the first of those that came meanwhile. So the next commit gathers while the disk syncs
//! one, and nobody waits for the connection only to learn that its uploads are stored.

use std::mem;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::upload::{self, EarlierUpload, Upload};
use super::{Folder, Store, StoreError, device, dropped};
use crate::id::Id;

/// Maximum uploads, alone or as groups, of one commit.
const MOST: usize = 1024;

/// The outcomes of uploads, or the refusal of one of them with its index.
pub(crate) type Kept = Result<Vec<EarlierUpload>, (usize, EarlierUpload)>;

/// Uploads that wait for a commit.
struct Waiting {
    uploads: Arc<Vec<Upload>>,
    /// The indexes of those to store.
    new: Vec<usize>,
    verifying_key: [u8; 32],
    /// The number of changes of the database at which none of them was stored.
    checked_at: u64,
    ids: Vec<Id>,
    tell: Sender<Told>,
}

/// What a thread that waits is told.
enum Told {
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
#[derive(Default)]
pub(super) struct Commits(Mutex<Gathered>);

impl Commits {
    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds uploads to those that wait. Returns their thread's lead if no other one leads.
    fn add(&self, waiting: Waiting) -> Option<Lead<'_>> {
        let mut gathered = self.gathered();
        gathered.waiting.push(waiting);
        let leads = !mem::replace(&mut gathered.is_led, true);
        leads.then(|| Lead(self))
    }
}

/// A thread's lead. It goes to the next thread when it is dropped, after a panic too.
struct Lead<'c>(&'c Commits);

impl Lead<'_> {
    /// Takes the uploads that have waited longest: those of this thread among them.
    fn take(&self) -> Vec<Waiting> {
        let waiting = &mut self.0.gathered().waiting;
        let left = waiting.split_off(waiting.len().min(MOST));
        mem::replace(waiting, left)
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut gathered = self.0.gathered();
        // A thread that does not hear has panicked.
        while gathered.waiting.first().is_some_and(|next| next.tell.send(Told::Lead).is_err()) {
            gathered.waiting.remove(0);
        }
        gathered.is_led = !gathered.waiting.is_empty();
    }
}

impl Store {
    /// Stores uploads of a device durably: bodies in files first, then all rows in one transaction, which other uploads
    /// share. `new` are the indexes of those to store, `verifying_key` is the key of their signatures. Returns their
    /// outcomes in this order. If one is refused, returns its index and the refusal, and none is stored. `checked_at` is
    /// the number of changes at which [`Store::earlier`] found none of them.
    pub(crate) fn keep_envelopes(
        &self,
        uploads: &Arc<Vec<Upload>>,
        new: &[usize],
        verifying_key: [u8; 32],
        checked_at: u64,
    ) -> Result<Kept, StoreError> {
        let ids = new.iter().map(|index| uploads[*index].new_id()).collect::<Result<Vec<_>, _>>()?;
        let in_files = || new.iter().zip(&ids).filter(|(index, _)| !uploads[**index].is_in_row());
        let names: Vec<(usize, String)> = in_files().map(|(index, id)| (*index, id.to_string())).collect();
        let files = names.iter().map(|(index, name)| (name.as_str(), &uploads[*index].bytes[..]));
        let written = if names.is_empty() { Ok(()) } else { self.bodies.write_all(Folder::Envelopes, files) };
        let kept = written.and_then(|()| {
            let (tell, told) = mpsc::channel();
            let uploads = Arc::clone(uploads);
            let waiting = Waiting { uploads, new: new.to_vec(), verifying_key, checked_at, ids, tell };
            self.committed(self.commits.add(waiting), &told)
        });
        let is_kept = |index: usize| {
            let at = new.iter().position(|new| *new == index);
            let kept = kept.as_ref().ok().and_then(|kept| kept.as_ref().ok());
            matches!(kept.zip(at).and_then(|(kept, at)| kept.get(at)), Some(EarlierUpload::New(_)))
        };
        for (index, name) in &names {
            if !is_kept(*index) {
                self.bodies.remove(Folder::Envelopes, name);
            }
        }
        if matches!(kept, Ok(Ok(_)))
            && uploads.iter().any(|upload| upload.envelope.replaces())
            && let Err(error) = self.finish_removals()
        {
            // The window is stored. The next one, or the next start, drops them.
            tracing::error!(%error, "bodies that are replaced cannot be dropped");
        }
        kept
    }

    /// Waits for the commit of a thread's uploads; stores all that wait if it leads.
    fn committed<'s>(
        &'s self,
        mut lead: Option<Lead<'s>>,
        told: &Receiver<Told>,
    ) -> Result<Kept, StoreError> {
        loop {
            if let Some(lead) = lead.take() {
                self.commit(&mut self.connection(), lead.take());
            }
            match told.recv() {
                Ok(Told::Lead) => lead = Some(Lead(&self.commits)),
                Ok(Told::Stored(kept)) => return kept,
                Err(_) => return Err(StoreError::Damaged("a commit ended early".to_owned())),
            }
        }
    }

    /// Stores uploads in one transaction and tells the outcomes.
    fn commit(&self, connection: &mut Connection, together: Vec<Waiting>) {
        let stored = (|| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let outcomes: Vec<Result<Kept, StoreError>> =
                together.iter().map(|waiting| self.keep_one(&transaction, waiting)).collect();
            transaction.commit()?;
            Ok::<_, rusqlite::Error>(outcomes)
        })();
        match stored {
            Ok(outcomes) => {
                for (waiting, outcome) in together.into_iter().zip(outcomes) {
                    // Nobody waits for it if its thread panicked.
                    let _ = waiting.tell.send(Told::Stored(outcome));
                }
            }
            Err(error) => {
                self.tails.clear();
                for waiting in together {
                    let _ = waiting.tell.send(Told::Stored(Err(again(&error))));
                }
            }
        }
    }

    /// Stores uploads within a transaction, all or none.
    fn keep_one(&self, transaction: &Transaction<'_>, waiting: &Waiting) -> Result<Kept, StoreError> {
        transaction.prepare_cached("SAVEPOINT upload")?.execute([])?;
        let kept = self.keep_in(transaction, waiting);
        if !matches!(kept, Ok(Ok(_))) {
            self.tails.clear();
            transaction.prepare_cached("ROLLBACK TO upload")?.execute([])?;
        }
        transaction.prepare_cached("RELEASE upload")?.execute([])?;
        kept
    }

    fn keep_in(&self, transaction: &Transaction<'_>, waiting: &Waiting) -> Result<Kept, StoreError> {
        let is_changed = transaction.total_changes() != waiting.checked_at;
        let uploads: Vec<&Upload> = waiting.new.iter().map(|index| &waiting.uploads[*index]).collect();
        let Some(first) = uploads.first() else { return Ok(Ok(Vec::new())) };
        let signed = first.envelope.signed_header();
        let device = device::device(transaction, &signed.header().device)?;
        // All are of one stream.
        let mut tail = self.tails.of(transaction, signed)?;
        let mut ahead = tail.clone();
        let mut found = Vec::with_capacity(uploads.len());
        for (at, upload) in uploads.iter().enumerate() {
            let signed = upload.envelope.signed_header();
            let is_in_order = ahead.is_before(signed);
            let earlier = if is_in_order { None } else { self.earlier_in(transaction, upload)? };
            let earlier = match earlier {
                None if !upload::still_accepted(device.as_ref(), upload, &waiting.verifying_key) => {
                    Some(EarlierUpload::NoLongerAccepted)
                }
                None if is_in_order => None,
                None => match upload::tick_taken_by_one(&uploads[..at], &found, upload) {
                    None if is_changed => self.tick_taken(transaction, upload)?,
                    taken => taken,
                },
                earlier => earlier,
            };
            match earlier {
                Some(refused) if refused.is_refused() => return Ok(Err((waiting.new[at], refused))),
                None => ahead.add(signed),
                Some(_) => {}
            }
            found.push(earlier);
        }
        let mut kept = Vec::with_capacity(uploads.len());
        for ((id, upload), earlier) in waiting.ids.iter().zip(&uploads).zip(found) {
            kept.push(match earlier {
                Some(earlier) => earlier,
                None => {
                    let receipt = upload::insert(self, transaction, *id, upload, tail.next_position())?;
                    tail.add(upload.envelope.signed_header());
                    EarlierUpload::New(receipt)
                }
            });
        }
        for upload in &uploads {
            dropped::drop_replaced(self, transaction, upload.envelope.signed_header())?;
        }
        self.tails.keep(signed, tail);
        Ok(Ok(kept))
    }
}

/// Returns the error of a commit for each upload that shared it.
fn again(error: &rusqlite::Error) -> StoreError {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => {
            StoreError::Database(rusqlite::Error::SqliteFailure(*failure, message.clone()))
        }
        other => StoreError::Damaged(other.to_string()),
    }
}
