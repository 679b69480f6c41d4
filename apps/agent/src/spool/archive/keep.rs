//! Takes confirmed messages in, and deletes the oldest.

use std::fs;
use std::io;
use std::path::Path;

use sotto_wire::StreamHeader;

use super::super::durable::{self, Audience};
use super::super::entry::Entry;
use super::super::reserve::is_full;
use super::{Archive, ArchivedFile, Kept, counted, message};

/// A day in milliseconds.
const DAY: i64 = 86_400_000;

impl Archive {
    /// Keeps a message that was sent alone: moves its file out of the queue. Returns false if it stays there.
    pub(in crate::spool) fn keep_alone(&self, path: &Path, entry: &Entry, now: i64) -> bool {
        let Entry { stream, sequence, bytes, .. } = entry;
        let file = ArchivedFile::alone(self.next_time(now), stream, *sequence, *bytes);
        if !self.takes(&file) {
            return false;
        }
        let to = self.folder.join(file.name());
        let moved = || fs::rename(path, &to).and_then(|()| durable::sync_folder_of(&to));
        self.kept(file, now, moved)
    }

    /// Keeps a group as it was sent. Returns false if it is not kept.
    pub(in crate::spool) fn keep_group(
        &self,
        stream: &StreamHeader,
        entries: &[Entry],
        group: &[u8],
        now: i64,
    ) -> bool {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return false };
        let bytes = message::group_bytes(stream, group);
        let numbers = (first.sequence, last.sequence);
        let count = entries.len() as u64;
        let time = self.next_time(now);
        let file = ArchivedFile::group(time, &first.stream, numbers, count, bytes.len() as u64);
        let to = self.folder.join(file.name());
        self.takes(&file) && self.kept(file, now, || durable::write(&to, &bytes, Audience::Owner))
    }

    /// Keeps a message that was sent again from now on, behind all others: files are in the order of the cloud's log.
    pub fn renew(&self, file: &ArchivedFile, now: i64) {
        let again = ArchivedFile { confirmed_at: self.next_time(now), ..file.clone() };
        let moved = fs::rename(self.folder.join(file.name()), self.folder.join(again.name()));
        let mut kept = self.lock();
        match (moved, kept.files.iter().position(|other| other == file)) {
            (Ok(()), Some(place)) => {
                kept.files.remove(place);
                kept.files.push_back(again);
            }
            (moved, _) => tracing::debug!(?moved, "a message that was sent again keeps its time"),
        }
    }

    /// Returns a time behind that of the newest file, so that their order is that of the receipts. A clock that was set back by
    /// more than a day counts as it is.
    fn next_time(&self, now: i64) -> i64 {
        let newest = self.lock().files.back().map(|file| file.confirmed_at.saturating_add(1));
        newest.filter(|newest| *newest < now.saturating_add(DAY)).map_or(now, |newest| newest.max(now))
    }

    /// Returns true if a file is within the bounds by itself.
    fn takes(&self, file: &ArchivedFile) -> bool {
        self.keep.time > 0 && counted(file) <= self.keep.bytes
    }

    /// Adds a file by an attempt that is repeated on a full disk as long as there is an older one to delete.
    pub(super) fn kept(&self, file: ArchivedFile, now: i64, attempt: impl Fn() -> io::Result<()>) -> bool {
        loop {
            match attempt() {
                Ok(()) => break,
                Err(error) if is_full(&error) && self.delete_oldest() => {}
                Err(error) => {
                    let said = std::mem::replace(&mut self.lock().said, true);
                    if !said {
                        let folder = self.folder.display();
                        tracing::warn!(%folder, %error, "a confirmed message is not kept");
                    }
                    return false;
                }
            }
        }
        let mut kept = self.lock();
        kept.bytes += counted(&file);
        kept.files.push_back(file);
        drop(kept);
        self.trim(now);
        true
    }

    /// Deletes files that are older than the time, and the oldest beyond the bytes.
    pub(super) fn trim(&self, now: i64) {
        let is_over = |kept: &Kept| {
            let oldest = kept.files.front()?;
            let is_old = oldest.confirmed_at.saturating_add(self.keep.time) <= now;
            (is_old || self.keep.time == 0 || kept.bytes > self.keep.bytes).then_some(())
        };
        while is_over(&self.lock()).is_some() {
            self.delete_oldest();
        }
    }

    /// Deletes the oldest file. Returns false if there is none.
    pub(in crate::spool) fn delete_oldest(&self) -> bool {
        let mut kept = self.lock();
        let Some(oldest) = kept.files.pop_front() else { return false };
        kept.bytes -= counted(&oldest);
        let path = self.folder.join(oldest.name());
        if let Err(error) = durable::remove_if_there(&path) {
            tracing::warn!(path = %path.display(), %error, "a message that was kept cannot be deleted");
        }
        true
    }
}
