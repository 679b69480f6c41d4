//! Rows that a thread reads, for readers that borrow from their open file.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::{Table, Value, unharmed};
use crate::source::SourceError;
use crate::source::files::input::refused;
use crate::stop::Stop;

/// Rows that are handed over at once.
const PIECE: usize = 512;
/// Maximum number of pieces that wait.
const WAITING: usize = 2;
/// Interval at which a waiting reader looks for a stop.
const POLL: Duration = Duration::from_millis(100);

/// A row: its number, and the values of its wanted columns.
type Line = (u64, Vec<Value<'static>>);

/// The end of the thread that reads.
pub(in crate::source::formats) struct Sink {
    sender: SyncSender<Result<Vec<Line>, String>>,
    lines: Vec<Line>,
}

/// Nobody wants the rows any more.
pub(in crate::source::formats) struct Unwanted;

impl Sink {
    /// Hands over a row.
    pub(in crate::source::formats) fn push(
        &mut self,
        row: u64,
        values: Vec<Value<'static>>,
    ) -> Result<(), Unwanted> {
        self.lines.push((row, values));
        if self.lines.len() < PIECE { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Unwanted> {
        let lines = std::mem::replace(&mut self.lines, Vec::with_capacity(PIECE));
        self.sender.send(Ok(lines)).map_err(|_| Unwanted)
    }
}

/// The rows that a thread reads.
pub(in crate::source::formats) struct Lines {
    path: PathBuf,
    stop: Stop,
    receiver: Receiver<Result<Vec<Line>, String>>,
    waiting: std::vec::IntoIter<Line>,
    line: Line,
}

impl Lines {
    /// Starts a thread that hands over rows, and ends with them or once nobody wants more.
    pub(in crate::source::formats) fn start(
        path: &Path,
        stop: Stop,
        read: impl FnOnce(&mut Sink) -> Result<(), String> + Send + 'static,
    ) -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        thread::spawn(move || {
            let mut sink = Sink { sender: sender.clone(), lines: Vec::with_capacity(PIECE) };
            let read = unharmed(|| read(&mut sink))
                .unwrap_or_else(|| Err("it is damaged: copy it again".to_owned()));
            // Rows before an error are good.
            let handed = sink.flush();
            if let (Ok(()), Err(reason)) = (handed, read) {
                drop(sender.send(Err(reason)));
            }
        });
        Self { path: path.to_owned(), stop, receiver, waiting: Vec::new().into_iter(), line: (0, Vec::new()) }
    }
}

impl Table for Lines {
    fn advance(&mut self) -> Result<Option<u64>, SourceError> {
        loop {
            if let Some(line) = self.waiting.next() {
                self.line = line;
                return Ok(Some(self.line.0));
            }
            match self.receiver.recv_timeout(POLL) {
                Ok(Ok(lines)) => self.waiting = lines.into_iter(),
                Ok(Err(reason)) => {
                    return Err(refused(&self.path, format!("behind row {}: {reason}", self.line.0)));
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if self.stop.is_asked() => return Err(SourceError::Stopped),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn value(&self, position: usize) -> Value<'_> {
        self.line.1.get(position).map_or(Value::Empty, Value::borrowed)
    }
}
