//! One commit, and so one sync of the disk, for all uploads that wait for it.
//!
//! Uploads are added to the list of those that wait. The first one leads: it stores all that wait, itself included, then hands
//! over to the first of those that came meanwhile. So the next commit gathers while the disk syncs one, and nobody waits for the
//! connection only to learn that its uploads are stored. A thread leads itself; for a task, which waits without a thread,
//! one is started when its turn to lead comes.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::earlier::{EarlierUpload, tick_taken_by_one};
use super::lead::{Kept, Lead, New, Told, Waiter, Waiting};
use super::upload::{self, Upload};
use super::{Folder, Store, StoreError, device, dropped};

impl Store {
    /// Stores uploads of a device durably: bodies in files first, then all rows in one transaction, which other uploads
    /// share. Returns their outcomes in this order. If one is refused, returns its index and the refusal, and none is stored.
    pub(crate) fn keep_envelopes(&self, new: New) -> Result<Kept, StoreError> {
        let ids = new.ids()?;
        let (uploads, indexes) = (Arc::clone(&new.uploads), new.new.clone());
        let in_files = || indexes.iter().zip(&ids).filter(|(index, _)| !uploads[**index].is_in_row());
        let names: Vec<(usize, String)> = in_files().map(|(index, id)| (*index, id.to_string())).collect();
        let files = names.iter().map(|(index, name)| (name.as_str(), &uploads[*index].bytes[..]));
        let written = if names.is_empty() { Ok(()) } else { self.bodies.write_all(Folder::Envelopes, files) };
        let kept = written.and_then(|()| {
            let (tell, told) = mpsc::channel();
            let waiting = Waiting { new, ids, waiter: Waiter::Thread(tell) };
            self.committed(self.commits.add(waiting), &told)
        });
        let is_kept = |index: usize| {
            let at = indexes.iter().position(|new| *new == index);
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

    /// Like [`Store::keep_envelopes`], for uploads that have no files and replace none: holds no thread. `lead` starts a
    /// thread that calls [`Store::lead`].
    pub(crate) fn keep_rows(
        &self,
        new: New,
        lead: impl FnOnce(Lead) + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<Kept, StoreError>>, StoreError> {
        let (tell, told) = oneshot::channel();
        let waiter = Waiter::Task { tell, lead: Some(Box::new(lead)) };
        let ids = new.ids()?;
        // Dropped at once, the lead goes to the first that waits: this one.
        drop(self.commits.add(Waiting { new, ids, waiter }));
        Ok(told)
    }

    /// Stores all uploads that wait, then hands over.
    pub(crate) fn lead(&self, lead: Lead) {
        self.commit(&mut self.connection(), lead.take());
        drop(lead);
    }

    /// Waits for the commit of a thread's uploads; stores all that wait if it leads.
    fn committed(&self, mut lead: Option<Lead>, told: &Receiver<Told>) -> Result<Kept, StoreError> {
        loop {
            if let Some(lead) = lead.take() {
                self.lead(lead);
            }
            match told.recv() {
                Ok(Told::Lead) => lead = Some(Lead::of(&self.commits)),
                Ok(Told::Stored(kept)) => return kept,
                Err(_) => return Err(ended_early()),
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
                    waiting.waiter.tell(outcome);
                }
            }
            Err(error) => {
                self.tails.clear();
                for waiting in together {
                    waiting.waiter.tell(Err(again(&error)));
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
        let Waiting { new: New { uploads, new, verifying_key, checked_at }, ids, .. } = waiting;
        let is_changed = transaction.total_changes() != *checked_at;
        let uploads: Vec<&Upload> = new.iter().map(|index| &uploads[*index]).collect();
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
                None if !upload::still_accepted(device.as_ref(), upload, verifying_key) => {
                    Some(EarlierUpload::NoLongerAccepted)
                }
                None if is_in_order => None,
                None => match tick_taken_by_one(&uploads[..at], &found, upload) {
                    None if is_changed => self.tick_taken(transaction, upload)?,
                    taken => taken,
                },
                earlier => earlier,
            };
            match earlier {
                Some(refused) if refused.is_refused() => return Ok(Err((new[at], refused))),
                None => ahead.add(signed),
                Some(_) => {}
            }
            found.push(earlier);
        }
        let mut kept = Vec::with_capacity(uploads.len());
        for ((id, upload), earlier) in ids.iter().zip(&uploads).zip(found) {
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

/// Returns the error of an upload whose commit ended without an outcome.
pub(crate) fn ended_early() -> StoreError {
    StoreError::Damaged("a commit ended early".to_owned())
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
