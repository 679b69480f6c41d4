//! Sorts files whose rows run backwards in time.

use std::collections::VecDeque;

use crate::source::{Row, Source, SourceError};
use crate::stop::Stop;

/// Number of first rows examined: if they all run backwards, the file is read whole and sorted.
const LOOKED_AT: usize = 1000;
/// Maximum number of rows of a file that is read whole.
const MOST_ROWS: usize = 10_000_000;

/// The rows of a source; sorted by time if they run backwards.
pub(super) struct InOrder {
    source: Box<dyn Source>,
    /// Rows read ahead.
    ahead: VecDeque<Row>,
    /// The end, or an error, met while reading ahead.
    end: Option<SourceError>,
    looked: bool,
}

impl InOrder {
    pub(super) fn new(source: Box<dyn Source>) -> Self {
        let looked = source.paced();
        Self { source, ahead: VecDeque::new(), end: None, looked }
    }

    pub(super) fn source(&mut self) -> &mut dyn Source {
        &mut *self.source
    }

    pub(super) fn next_row(&mut self, stop: &Stop) -> Result<Row, SourceError> {
        if !self.looked {
            self.looked = true;
            self.look(stop)?;
        }
        if let Some(row) = self.ahead.pop_front() {
            return Ok(row);
        }
        match self.end.take() {
            Some(end) => Err(end),
            None => self.source.next_row(),
        }
    }

    /// Reads the first rows; reads and sorts all of them if each is earlier than the one before.
    fn look(&mut self, stop: &Stop) -> Result<(), SourceError> {
        self.read_ahead(LOOKED_AT, stop);
        let mut pairs = self.ahead.iter().zip(self.ahead.iter().skip(1));
        if self.ahead.len() < 2 || !pairs.all(|(row, next)| next.at < row.at) {
            return Ok(());
        }
        tracing::info!("the rows run backwards in time: all are read and sorted");
        self.read_ahead(MOST_ROWS, stop);
        if self.end.is_none() {
            let reason =
                format!("its rows run backwards in time and are more than {MOST_ROWS}: sort them by time");
            return Err(SourceError::Option { option: "--csv", reason });
        }
        self.ahead.make_contiguous().sort_by_key(|row| row.at);
        Ok(())
    }

    fn read_ahead(&mut self, most: usize, stop: &Stop) {
        while self.end.is_none() && self.ahead.len() < most {
            match self.source.next_row() {
                _ if stop.is_asked() => self.end = Some(SourceError::Stopped),
                Ok(row) => self.ahead.push_back(row),
                Err(end) => self.end = Some(end),
            }
        }
    }
}
