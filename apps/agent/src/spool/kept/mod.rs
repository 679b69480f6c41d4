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
mod open;
mod seal;
mod window;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(test)]
use sotto_keys::{DeviceKeys, SigningIdentity};
use zeroize::Zeroizing;

pub use forgotten::Forgotten;
pub use seal::KeptKey;
pub use window::{KeptHead, KeptHeld, KeptReading, KeptReadings, KeptWindow};

use super::SpoolError;
use super::durable::{self, Audience};
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

    /// Notes that nothing is known of the readings of a stream before a time, on the clock's ticks: its spool was lost.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if that cannot be written.
    pub fn lose_before(&self, stream: &str, at: i64, channels: usize) -> Result<(), SpoolError> {
        let forgotten = self.forgotten(stream).unwrap_or_else(|| Forgotten::of(channels));
        self.keep_forgotten(stream, Forgotten { blind: forgotten.blind.max(at), ..forgotten })
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

    /// Gives the windows of a stream the number under which a message was sent again; none if it was deleted.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if that cannot be written.
    pub fn renumber(&self, stream: &str, from: u64, to: Option<u64>) -> Result<(), SpoolError> {
        let starts: Vec<i64> = {
            let streams = self.lock();
            let windows = streams.get(stream).into_iter().flat_map(|of| of.windows.values());
            let with = |head: &KeptHead| head.numbers.contains(&from);
            windows.map(Entry::head).filter(with).map(|head| head.start).collect()
        };
        for start in starts {
            let Some(mut window) = self.window(stream, start)? else { continue };
            window.head.numbers.retain(|number| *number != from);
            window.head.numbers.extend(to);
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

fn invalid(Damaged: Damaged) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is damaged")
}

fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::NotFound
    )
}

fn warn_of(path: &Path, error: Option<io::Error>) {
    let reason = error.map_or_else(|| "it has another name".to_owned(), |error| error.to_string());
    tracing::warn!(path = %path.display(), reason, "kept readings are passed over: late readings of their time are refused");
}

#[cfg(test)]
mod tests;
