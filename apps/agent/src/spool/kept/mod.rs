//! Readings that were sent, kept for a while, encrypted: a late one changes what other ticks of its window hold, so that
//! the window is made again, whole.
//!
//! In the folder `kept` of the spool:
//! - `STREAM.START.window`: the readings of a window, what held at its beginning, and its numbers. It is written before
//!   the window's message: after a crash between the two, the window is made again.
//! - `STREAM.forgotten`: what stays of windows whose time is over: the last reading of each channel that holds, and which
//!   ticks had a reading.

mod code;
mod forgotten;
mod seal;
mod window;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(test)]
use sotto_keys::{DeviceKeys, SigningIdentity};
use zeroize::Zeroizing;

pub use forgotten::Forgotten;
pub use seal::KeptKey;
pub use window::{KeptHead, KeptHeld, KeptReading, KeptReadings, KeptWindow};

use super::durable::{self, Audience};
use super::{SpoolError, private};
use code::Damaged;
use seal::Place;

const FOLDER: &str = "kept";
const WINDOW: &str = ".window";
const FORGOTTEN: &str = ".forgotten";

/// The kept readings of a device.
pub struct Kept {
    folder: PathBuf,
    device: String,
    key: KeptKey,
    /// Milliseconds for which a window is kept after it was sent.
    late: i64,
    /// True if nothing is written: windows that are put stay in memory.
    in_memory: bool,
    /// True if nothing is sent either: windows count as sent when they are made.
    pretends: bool,
    streams: Mutex<BTreeMap<String, OfStream>>,
}

/// Shows no reading.
impl fmt::Debug for Kept {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Kept").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// The kept readings of a stream.
#[derive(Default)]
struct OfStream {
    /// By the start of the window.
    windows: BTreeMap<i64, Entry>,
    forgotten: Option<Forgotten>,
}

/// A kept window. There may be hundreds of thousands: facts stay in the form in which they are written.
struct Entry {
    until: i64,
    head: Zeroizing<Box<[u8]>>,
    /// The rest, if the window is in memory alone.
    body: Option<Zeroizing<Vec<u8>>>,
}

impl Entry {
    fn of(head: &KeptHead, body: Option<Zeroizing<Vec<u8>>>) -> Self {
        let bytes = head.to_bytes();
        Self { until: head.until, head: Zeroizing::new(bytes.as_slice().into()), body }
    }

    fn head(&self) -> KeptHead {
        KeptHead::of_bytes(&self.head).unwrap_or_default()
    }
}

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
    fn settle(&self, next: impl Fn(&str) -> u64) -> Result<(), SpoolError> {
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

    /// Deletes what is kept of streams that are not `known`, if it was sent longer ago than it is kept.
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

    /// Returns kept readings that begin with these. Windows that are put stay in memory: nothing is written.
    #[must_use]
    pub fn in_memory(&self) -> Self {
        let copy =
            |entry: &Entry| Entry { until: entry.until, head: entry.head.clone(), body: entry.body.clone() };
        let streams = self.lock();
        let of = |(stream, of): (&String, &OfStream)| {
            let windows = of.windows.iter().map(|(start, entry)| (*start, copy(entry))).collect();
            (stream.clone(), OfStream { windows, forgotten: of.forgotten.clone() })
        };
        Self {
            folder: self.folder.clone(),
            device: self.device.clone(),
            key: self.key.clone(),
            late: self.late,
            in_memory: true,
            pretends: true,
            streams: Mutex::new(streams.iter().map(of).collect()),
        }
    }

    /// Returns empty ones in memory, for windows that are sent.
    #[cfg(test)]
    pub(crate) fn for_tests(late: i64) -> Self {
        let key = KeptKey::derive(&DeviceKeys::Public(Vec::new()), &SigningIdentity::from_bytes(&[7; 32]));
        let (folder, device) = (PathBuf::new(), String::new());
        Self { folder, device, key, late, in_memory: true, pretends: false, streams: Mutex::default() }
    }

    /// Opens them again after a stop.
    #[cfg(test)]
    pub(crate) fn reopen(&self, next: impl Fn(&str) -> u64) -> Self {
        let again = Self { pretends: false, ..self.in_memory() };
        again.settle(next).expect("in memory");
        again
    }

    /// Keeps a window durably, in place of the one with its start.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be written.
    pub fn put(&self, stream: &str, window: &KeptWindow) -> Result<(), SpoolError> {
        let (head, body) = window.write();
        let start = window.head.start;
        let body = if self.in_memory {
            Some(body)
        } else {
            let (name, path) = self.file(stream, start);
            let place = Place { device: &self.device, stream, name: &name };
            seal::seal(&self.key, place, &head, &body)
                .and_then(|bytes| durable::write(&path, &bytes, Audience::Owner))
                .map_err(SpoolError::io(&path))?;
            None
        };
        let entry = Entry::of(&window.head, body);
        self.lock().entry(stream.to_owned()).or_default().windows.insert(start, entry);
        Ok(())
    }

    /// Deletes a window.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be deleted.
    pub fn remove(&self, stream: &str, start: i64) -> Result<(), SpoolError> {
        if !self.in_memory {
            let (_, path) = self.file(stream, start);
            durable::remove_if_there(&path).map_err(SpoolError::io(&path))?;
        }
        self.lock().get_mut(stream).and_then(|of| of.windows.remove(&start));
        Ok(())
    }

    /// Reads a window. Returns `None` if it is not kept, or its file is damaged.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if it cannot be read.
    pub fn window(&self, stream: &str, start: i64) -> Result<Option<KeptWindow>, SpoolError> {
        {
            let streams = self.lock();
            let entry = streams.get(stream).and_then(|of| of.windows.get(&start));
            match entry {
                None => return Ok(None),
                Some(Entry { head, body: Some(body), .. }) => {
                    return Ok(KeptWindow::read(head, body).ok());
                }
                Some(_) => {}
            }
        }
        let (name, path) = self.file(stream, start);
        let place = Place { device: &self.device, stream, name: &name };
        let read = seal::open(&self.key, place, &path, true);
        match read.and_then(|(head, body)| KeptWindow::read(&head, &body).map_err(invalid)) {
            Ok(window) => Ok(Some(window)),
            Err(error) if is_damage(&error) => {
                warn_of(&path, Some(error));
                self.lock().get_mut(stream).and_then(|of| of.windows.remove(&start));
                Ok(None)
            }
            Err(error) => Err(SpoolError::Io { path, error }),
        }
    }

    /// Returns the kept windows of a stream that begin before `to` and end after `from`, in order.
    #[must_use]
    pub fn heads(&self, stream: &str, from: i64, to: i64) -> Vec<KeptHead> {
        let streams = self.lock();
        let Some(of) = streams.get(stream) else { return Vec::new() };
        let before = of.windows.range(..to).rev().map(|(_, entry)| entry);
        // Windows do not overlap: their ends are in the order of their starts.
        let mut heads: Vec<KeptHead> =
            before.take_while(|entry| entry.until > from).map(Entry::head).collect();
        heads.reverse();
        heads
    }

    /// Returns the last reading before a time of each channel that is `wanted`, as far as it is kept. `forgotten` returns true
    /// for a reading of a window that is not kept any more: the windows behind it alone know it.
    pub fn last_before(
        &self,
        stream: &str,
        at: i64,
        wanted: &[bool],
        forgotten: impl Fn(usize, KeptReading) -> bool,
    ) -> KeptHeld {
        let mut found = Zeroizing::new(vec![None; wanted.len()]);
        let mut missing: Vec<usize> = (0..wanted.len()).filter(|channel| wanted[*channel]).collect();
        let streams = self.lock();
        let Some(of) = streams.get(stream) else { return found };
        let before = of.windows.range(..at).rev().map(|(_, entry)| entry);
        let mut oldest: Option<KeptHead> = None;
        for head in before.filter(|entry| entry.until <= at).map(Entry::head) {
            missing.retain(|channel| {
                let last = head.last.get(*channel).copied().flatten();
                let last = last.filter(|last| last.at >= head.start || forgotten(*channel, *last));
                found[*channel] = last;
                last.is_none()
            });
            if missing.is_empty() {
                return found;
            }
            oldest = Some(head);
        }
        let held =
            |channel: usize| oldest.as_ref().and_then(|head| head.held.get(channel).copied().flatten());
        missing.into_iter().for_each(|channel| found[channel] = held(channel));
        found
    }

    /// Returns the first kept window of a stream that begins at or after a time.
    #[must_use]
    pub fn head_from(&self, stream: &str, at: i64) -> Option<KeptHead> {
        let streams = self.lock();
        streams.get(stream)?.windows.range(at..).next().map(|(_, entry)| entry.head())
    }

    /// Returns the phase of a kept window of a stream.
    #[must_use]
    pub fn phase(&self, stream: &str) -> Option<i64> {
        let streams = self.lock();
        streams.get(stream)?.windows.values().next().map(|entry| entry.head().phase)
    }

    /// Returns true if nothing is sent: windows count as sent when they are made.
    #[must_use]
    pub fn pretends(&self) -> bool {
        self.pretends
    }

    /// Returns the starts of the windows with readings that are in no message.
    #[must_use]
    pub fn unsent(&self, stream: &str) -> Vec<i64> {
        let streams = self.lock();
        let all = streams.get(stream).into_iter().flat_map(|of| of.windows.values());
        all.map(Entry::head).filter(|head| head.is_unsent).map(|head| head.start).collect()
    }

    /// Returns what stays of the forgotten windows of a stream.
    #[must_use]
    pub fn forgotten(&self, stream: &str) -> Option<Forgotten> {
        self.lock().get(stream)?.forgotten.clone()
    }

    /// Deletes the windows of a stream that were sent longer ago than they are kept, and keeps what stays of them.
    /// `filled` is true for channels whose ticks between readings are filled; `tick` returns the tick of a time.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if that cannot be written.
    pub fn forget(
        &self,
        stream: &str,
        now: i64,
        filled: &[bool],
        tick: impl Fn(i64) -> (i64, i64),
    ) -> Result<(), SpoolError> {
        let is_over = |head: &KeptHead| !head.is_unsent && head.sent_at.saturating_add(self.late) < now;
        let over: Vec<i64> = {
            let streams = self.lock();
            let windows = streams.get(stream).into_iter().flat_map(|of| of.windows.values());
            windows.map(Entry::head).filter(|head| is_over(head)).map(|head| head.start).collect()
        };
        if over.is_empty() || self.pretends {
            return Ok(());
        }
        let mut forgotten = self.forgotten(stream).unwrap_or_else(|| Forgotten::of(filled.len()));
        for start in &over {
            let Some(window) = self.window(stream, *start)? else { continue };
            let channels = window.readings.iter().enumerate();
            let channels = channels.filter(|(channel, _)| filled.get(*channel).is_some_and(|filled| *filled));
            channels.for_each(|(channel, readings)| forgotten.add(channel, readings, &tick));
        }
        self.keep_forgotten(stream, forgotten)?;
        over.into_iter().try_for_each(|start| self.remove(stream, start))
    }

    fn keep_forgotten(&self, stream: &str, forgotten: Forgotten) -> Result<(), SpoolError> {
        if !self.in_memory {
            let name = format!("{stream}{FORGOTTEN}");
            let path = self.folder.join(&name);
            let place = Place { device: &self.device, stream, name: &name };
            seal::seal(&self.key, place, &forgotten.write(), &[])
                .and_then(|bytes| durable::write(&path, &bytes, Audience::Owner))
                .map_err(SpoolError::io(&path))?;
        }
        self.lock().entry(stream.to_owned()).or_default().forgotten = Some(forgotten);
        Ok(())
    }

    /// Gives the windows of a stream the number under which a message was sent again.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if that cannot be written.
    pub fn renumber(&self, stream: &str, from: u64, to: u64) -> Result<(), SpoolError> {
        let starts: Vec<i64> = {
            let streams = self.lock();
            let windows = streams.get(stream).into_iter().flat_map(|of| of.windows.values());
            let with = |head: &KeptHead| head.numbers.contains(&from);
            windows.map(Entry::head).filter(with).map(|head| head.start).collect()
        };
        for start in starts {
            let Some(mut window) = self.window(stream, start)? else { continue };
            window.head.numbers.retain(|number| *number != from);
            window.head.numbers.push(to);
            window.head.numbers.sort_unstable();
            window.head.numbers.dedup();
            self.put(stream, &window)?;
        }
        Ok(())
    }

    fn file(&self, stream: &str, start: i64) -> (String, PathBuf) {
        let name = format!("{stream}.{start}{WINDOW}");
        let path = self.folder.join(&name);
        (name, path)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, OfStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
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

fn invalid(Damaged: Damaged) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is damaged")
}

fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::NotFound
    )
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

fn warn_of(path: &Path, error: Option<io::Error>) {
    let reason = error.map_or_else(|| "it has another name".to_owned(), |error| error.to_string());
    tracing::warn!(path = %path.display(), reason, "kept readings are passed over: late readings of their time are refused");
}

#[cfg(test)]
mod tests;
