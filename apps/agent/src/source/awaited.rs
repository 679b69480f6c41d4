//! Waits for rows of sources whose rows arrive over time.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sotto_pack::{Channel, LeftOut};

use super::{FileFacts, Row, Source, SourceError, now};
use crate::stop::Stop;

/// Maximum number of rows that wait to be taken.
const WAITING: usize = 256;
/// Interval at which a wait looks for a stop.
const LOOK: Duration = Duration::from_millis(100);
/// Longest wait for the end of a source after a stop.
const END: Duration = Duration::from_millis(500);

/// A row, or the reason why there is none, with the facts about it.
struct Item {
    row: Result<Row, SourceError>,
    left_out: LeftOut,
    line: Option<u64>,
    file: usize,
}

/// A source that a thread reads: a wait for a row can end before the row comes.
struct Awaited {
    channels: Vec<Channel>,
    rows: Receiver<Item>,
    /// Facts about the files, once the source has ended.
    facts: Arc<Mutex<Vec<FileFacts>>>,
    stop: Stop,
    left_out: LeftOut,
    line: Option<u64>,
    file: usize,
}

/// Returns a source that gives up waiting for a row at a time: see [`Source::next_row_before`]. One that ends is
/// returned as it is.
#[must_use]
pub fn awaited(mut source: Box<dyn Source>, stop: &Stop) -> Box<dyn Source> {
    if !source.paced() {
        return source;
    }
    let (channels, facts) = (source.channels().to_vec(), Arc::default());
    let (sender, rows) = sync_channel(WAITING);
    let shared: Arc<Mutex<Vec<FileFacts>>> = Arc::clone(&facts);
    thread::spawn(move || {
        loop {
            let row = source.next_row();
            let is_last = row.is_err();
            if is_last {
                *shared.lock().unwrap_or_else(PoisonError::into_inner) = source.facts();
            }
            let (left_out, line, file) = (source.take_left_out(), source.line(), source.file());
            if sender.send(Item { row, left_out, line, file }).is_err() || is_last {
                return;
            }
        }
    });
    let (left_out, stop) = (LeftOut::default(), stop.clone());
    Box::new(Awaited { channels, rows, facts, stop, left_out, line: None, file: 0 })
}

impl Awaited {
    fn take(&mut self, item: Item) -> Result<Row, SourceError> {
        let Item { row, left_out, line, file } = item;
        self.left_out.merge(&left_out);
        (self.line, self.file) = (line, file);
        row
    }

    /// Waits until the thread has told the facts about its files; rows that it has read are dropped.
    fn stopped(&self) -> SourceError {
        while let Ok(Item { row: Ok(_), .. }) = self.rows.recv_timeout(END) {}
        SourceError::Stopped
    }
}

impl Source for Awaited {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        loop {
            if let Some(row) = self.next_row_before(i64::MAX)? {
                return Ok(row);
            }
        }
    }

    fn next_row_before(&mut self, at: i64) -> Result<Option<Row>, SourceError> {
        loop {
            if self.stop.is_asked() {
                return Err(self.stopped());
            }
            let left = at.saturating_sub(now()).max(0);
            let wait = LOOK.min(Duration::from_millis(left.unsigned_abs()));
            match self.rows.recv_timeout(wait) {
                Ok(item) => return self.take(item).map(Some),
                Err(RecvTimeoutError::Timeout) if left == 0 => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(SourceError::Ended),
            }
        }
    }

    fn take_left_out(&mut self) -> LeftOut {
        std::mem::take(&mut self.left_out)
    }

    fn paced(&self) -> bool {
        true
    }

    fn line(&self) -> Option<u64> {
        self.line
    }

    fn file(&self) -> usize {
        self.file
    }

    fn facts(&self) -> Vec<FileFacts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        Err(SourceError::Ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source whose rows come when they are sent.
    struct Sent(Receiver<Row>);

    impl Source for Sent {
        fn channels(&self) -> &[Channel] {
            &[]
        }

        fn next_row(&mut self) -> Result<Row, SourceError> {
            self.0.recv().map_err(|_| SourceError::Ended)
        }

        fn paced(&self) -> bool {
            true
        }

        fn line(&self) -> Option<u64> {
            Some(7)
        }

        fn restart(&mut self) -> Result<(), SourceError> {
            Err(SourceError::Ended)
        }
    }

    #[test]
    fn a_wait_ends_at_its_time_and_no_row_is_lost() {
        let (send, rows) = sync_channel(4);
        let stop = Stop::new();
        let mut source = awaited(Box::new(Sent(rows)), &stop);
        assert!(matches!(source.next_row_before(now()), Ok(None)));
        for at in [5, 6] {
            send.send(Row::new(at, Vec::new())).unwrap();
        }
        assert_eq!(source.next_row().unwrap().at, 5);
        assert_eq!((source.next_row().unwrap().at, source.line()), (6, Some(7)));
        assert!(matches!(source.next_row_before(0), Ok(None)));
        drop(send);
        assert!(matches!(source.next_row(), Err(SourceError::Ended)));

        let (send, rows) = sync_channel(4);
        let mut source = awaited(Box::new(Sent(rows)), &stop);
        stop.ask();
        drop(send);
        assert!(matches!(source.next_row(), Err(SourceError::Stopped)));
    }
}
