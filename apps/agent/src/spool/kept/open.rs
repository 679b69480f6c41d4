//! Opens the kept readings in a spool's folder, and deletes those that cannot be used any more.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use super::seal::{self, Place};
use super::{
    Entry, FOLDER, FORGOTTEN, Forgotten, Kept, KeptHead, KeptKey, OfStream, WINDOW, invalid, warn_of,
};
use crate::spool::{SpoolError, durable, private};

impl Kept {
    /// Opens the kept readings in a spool's folder. `late` is in milliseconds. `next` returns the next number of a stream: a
    /// window with a number from there on is in no message, and is kept as not sent.
    ///
    /// # Errors
    /// [`SpoolError`] if the folder cannot be used. A file that is not this device's is passed over, with a warning.
    pub fn open(
        spool: &Path,
        device: &str,
        key: KeptKey,
        late: i64,
        next: impl Fn(&str) -> u64,
    ) -> Result<Self, SpoolError> {
        let folder = spool.join(FOLDER);
        private::make_folder(&folder)
            .and_then(|()| private::close(&folder))
            .map_err(SpoolError::io(&folder))?;
        durable::remove_leftovers(&folder).map_err(SpoolError::io(&folder))?;
        let kept = Self::read(&folder, device, key, late, false)?;
        kept.settle(next)?;
        Ok(kept)
    }

    /// Reads the kept readings in a spool's folder; changes nothing. Windows that are put stay in memory.
    ///
    /// # Errors
    /// [`SpoolError`] if the folder cannot be read.
    pub fn open_unchanged(spool: &Path, device: &str, key: KeptKey, late: i64) -> Result<Self, SpoolError> {
        Self::read(&spool.join(FOLDER), device, key, late, true)
    }

    fn read(
        folder: &Path,
        device: &str,
        key: KeptKey,
        late: i64,
        in_memory: bool,
    ) -> Result<Self, SpoolError> {
        let mut streams: BTreeMap<String, OfStream> = BTreeMap::new();
        let (folder, device) = (folder.to_owned(), device.to_owned());
        for name in names(&folder).map_err(SpoolError::io(&folder))? {
            if let Some((stream, start)) = name.strip_suffix(WINDOW).and_then(|name| name.rsplit_once('.')) {
                let Ok(start) = start.parse::<i64>() else { continue };
                let place = Place { device: &device, stream, name: &name };
                match head_of(&key, place, &folder.join(&name)) {
                    Ok(head) if head.start == start => {
                        let windows = &mut streams.entry(stream.to_owned()).or_default().windows;
                        windows.insert(start, Entry::of(&head, None));
                    }
                    read => pass_over(&folder.join(&name), read.err(), late, in_memory),
                }
            } else if let Some(stream) = name.strip_suffix(FORGOTTEN) {
                let place = Place { device: &device, stream, name: &name };
                let read = seal::open(&key, place, &folder.join(&name), false);
                match read.and_then(|(bytes, _)| Forgotten::read(&bytes).map_err(invalid)) {
                    Ok(forgotten) => {
                        streams.entry(stream.to_owned()).or_default().forgotten = Some(forgotten);
                    }
                    Err(error) => pass_over(&folder.join(&name), Some(error), late, in_memory),
                }
            }
        }
        let streams = Mutex::new(streams);
        Ok(Self { folder, device, key, late, in_memory, pretends: in_memory, streams })
    }

    /// Marks windows whose number no message has as not sent, and deletes those whose place another one took, before any
    /// message is written: one could get such a number.
    pub(super) fn settle(&self, next: impl Fn(&str) -> u64) -> Result<(), SpoolError> {
        let heads: Vec<(String, Vec<KeptHead>)> = {
            let streams = self.lock();
            let heads = |of: &OfStream| of.windows.values().map(Entry::head).collect();
            streams.iter().map(|(stream, of)| (stream.clone(), heads(of))).collect()
        };
        for (stream, heads) in heads {
            let next = next(&stream);
            for head in heads.iter().filter(|head| head.numbers.iter().any(|number| *number >= next)) {
                let Some(mut window) = self.window(&stream, head.start)? else { continue };
                window.head.numbers.retain(|number| *number < next);
                window.head.is_unsent = true;
                self.put(&stream, &window)?;
            }
            // Also of one whose message was not written: its readings are in it.
            let replaced = |head: &KeptHead| {
                let overlaps = |other: &&KeptHead| {
                    other.start != head.start && other.start < head.until && head.start < other.until
                };
                let mut others = heads.iter().filter(overlaps);
                let names =
                    |other: &KeptHead| head.numbers.iter().all(|number| other.numbers.contains(number));
                !head.numbers.is_empty()
                    && others.any(|other| other.numbers.len() > head.numbers.len() && names(other))
            };
            for head in heads.iter().filter(|head| replaced(head)) {
                self.remove(&stream, head.start)?;
            }
        }
        Ok(())
    }

    /// Deletes kept windows of streams that are not `known`, once they were sent long enough ago.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be deleted.
    pub fn prune(&self, now: i64, known: impl Fn(&str) -> bool) -> Result<(), SpoolError> {
        let over: Vec<(String, i64)> = {
            let streams = self.lock();
            let unknown = streams.iter().filter(|(stream, _)| !known(stream));
            let heads =
                unknown.flat_map(|(stream, of)| of.windows.values().map(move |of| (stream, of.head())));
            let is_over = |(_, head): &(&String, KeptHead)| head.sent_at.saturating_add(self.late) < now;
            heads.filter(is_over).map(|(stream, head)| (stream.clone(), head.start)).collect()
        };
        over.iter().try_for_each(|(stream, start)| self.remove(stream, *start))
    }

    /// Deletes all that is kept in a spool's folder: its spool is lost.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be deleted.
    pub fn clear(spool: &Path) -> Result<(), SpoolError> {
        let folder = spool.join(FOLDER);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SpoolError::io(&folder)(error)),
            _ => Ok(()),
        }
    }
}

/// Returns the names of the files in a folder; none if it is missing.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let files = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let name = |file: io::Result<fs::DirEntry>| Ok(file?.file_name().into_string().ok());
    files.filter_map(|file| name(file).transpose()).collect()
}

fn head_of(key: &KeptKey, place: Place<'_>, path: &Path) -> io::Result<KeptHead> {
    let (bytes, _) = seal::open(key, place, path, false)?;
    KeptHead::of_bytes(&bytes).map_err(invalid)
}

/// Passes over a file that is not of this key, or damaged. It is deleted once windows of its time would be.
fn pass_over(path: &Path, error: Option<io::Error>, late: i64, in_memory: bool) {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let age = modified.and_then(|modified| modified.elapsed().ok()).unwrap_or_default();
    if !in_memory && i64::try_from(age.as_millis()).is_ok_and(|age| age > late) {
        let _ = fs::remove_file(path);
    } else {
        warn_of(path, error);
    }
}
