//! Windows of streams of sums, in chunks that sums read without files.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{Envelope, STREAM_TAG_BYTES, StreamHeader, StreamTag, WireError};

use super::chunk::{self, NUMBERS, Run, Single};
use super::error::damaged;
use super::stream::Streams;
use super::{Store, StoreError, startup, stream};

const CHUNK: &str = "SELECT windows FROM sums_chunks WHERE stream_tag = ?1 AND chunk = ?2";

/// Outcome of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scanned {
    All,
    /// The stream has no window with this number.
    Missing(u64),
}

impl Store {
    /// Passes windows of a stream of sums to `take`, in the order of these runs of numbers: a run of stored windows, the
    /// index of the first one wanted, and the number of windows. Reads no files.
    pub(crate) fn scan_sums<E: From<StoreError>>(
        &self,
        header: &StreamHeader,
        wanted: &[(u64, u32)],
        take: impl FnMut(&Run<'_>, usize, usize) -> Result<(), E>,
    ) -> Result<Scanned, E> {
        scan(&self.connection(), header, wanted, take)
    }
}

/// Adds a window to its chunk, if it is one of sums.
pub(super) fn insert(connection: &Connection, envelope: &Envelope) -> Result<(), StoreError> {
    if !envelope.body().is_of_sums() {
        return Ok(());
    }
    let Some((header, _)) = envelope.window() else { return Ok(()) };
    let (tag, number) = (header.id().tag().0, (envelope.header().sequence / NUMBERS) as i64);
    let no_window = || StoreError::Damaged("a window of sums lacks its parts".to_owned());
    let forms = chunk::forms(header)?;
    let single = Single::of(header, envelope).ok_or_else(no_window)?;
    let window = single.run(&forms, envelope).ok_or_else(no_window)?;
    let before: Option<Vec<u8>> =
        connection.prepare_cached(CHUNK)?.query_row(params![tag, number], |row| row.get(0)).optional()?;
    let before = before.unwrap_or_default();
    let runs = chunk::insert(&chunk::read(&forms, &before)?, window);
    let mut keep = connection.prepare_cached(
        "INSERT INTO sums_chunks (stream_tag, chunk, windows) VALUES (?1, ?2, ?3)
         ON CONFLICT (stream_tag, chunk) DO UPDATE SET windows = ?3",
    )?;
    keep.execute(params![tag, number, chunk::write(&runs)])?;
    Ok(())
}

/// Removes windows from their chunks: tags of streams and sequence numbers, in ascending order.
pub(super) fn remove(
    connection: &Connection,
    streams: &Streams,
    windows: &[([u8; STREAM_TAG_BYTES], i64)],
) -> Result<(), StoreError> {
    let chunk_of = |(tag, number): &([u8; STREAM_TAG_BYTES], i64)| (*tag, number.unsigned_abs() / NUMBERS);
    for together in windows.chunk_by(|a, b| chunk_of(a) == chunk_of(b)) {
        let Some((tag, number)) = together.first().map(chunk_of) else { continue };
        let stream = streams.get(connection, StreamTag(tag))?;
        let header = stream.ok_or_else(|| damaged(WireError::UnknownStream(StreamTag(tag))))?;
        let key = params![tag, number as i64];
        let before: Option<Vec<u8>> =
            connection.prepare_cached(CHUNK)?.query_row(key, |row| row.get(0)).optional()?;
        let Some(before) = before else { continue };
        let numbers: Vec<u64> = together.iter().map(|(_, number)| number.unsigned_abs() % NUMBERS).collect();
        let left = chunk::without(&chunk::read(&chunk::forms(&header)?, &before)?, &numbers);
        if left.is_empty() {
            let delete = "DELETE FROM sums_chunks WHERE stream_tag = ?1 AND chunk = ?2";
            connection.prepare_cached(delete)?.execute(key)?;
        } else {
            let update = "UPDATE sums_chunks SET windows = ?3 WHERE stream_tag = ?1 AND chunk = ?2";
            let left = chunk::write(&left);
            connection.prepare_cached(update)?.execute(params![tag, number as i64, left])?;
        }
    }
    Ok(())
}

/// Scans like [`Store::scan_sums`], on one connection.
fn scan<E: From<StoreError>>(
    connection: &Connection,
    header: &StreamHeader,
    wanted: &[(u64, u32)],
    mut take: impl FnMut(&Run<'_>, usize, usize) -> Result<(), E>,
) -> Result<Scanned, E> {
    let (tag, forms) = (header.id().tag().0, chunk::forms(header)?);
    // One snapshot; a transaction for each chunk would take as long as the rest. It ends when it is dropped.
    let snapshot = connection.unchecked_transaction().map_err(StoreError::from)?;
    let mut select = snapshot.prepare_cached(CHUNK).map_err(StoreError::from)?;
    let mut numbers = Numbers { wanted, done: 0 };
    while let Some((first, _)) = numbers.next_run() {
        let chunk = first / NUMBERS;
        let mut rows = select.query(params![tag, chunk as i64]).map_err(StoreError::from)?;
        let Some(row) = rows.next().map_err(StoreError::from)? else { return Ok(Scanned::Missing(first)) };
        let windows = row.get_ref(0).map_err(StoreError::from)?.as_blob();
        let windows = windows.map_err(|error| StoreError::Damaged(error.to_string()))?;
        let runs = chunk::read(&forms, windows)?;
        // All that is wanted of this chunk before another one.
        while let Some((first, count)) = numbers.next_run().filter(|(first, _)| first / NUMBERS == chunk) {
            let number = first % NUMBERS;
            let after = runs.partition_point(|run| run.first <= number);
            let run = after.checked_sub(1).and_then(|at| runs.get(at));
            let inside = run.map(|run| (run, (number - run.first) as usize));
            let Some((run, from)) = inside.filter(|(run, from)| *from < run.windows) else {
                return Ok(Scanned::Missing(first));
            };
            let count = count.min((run.windows - from) as u32);
            take(run, from, count as usize)?;
            numbers.advance(count);
        }
    }
    Ok(Scanned::All)
}

/// Runs of numbers, of which some are done.
struct Numbers<'w> {
    wanted: &'w [(u64, u32)],
    /// Numbers of the first run that are done.
    done: u32,
}

impl Numbers<'_> {
    /// Returns the next number, and how many follow it in its run, itself included.
    fn next_run(&mut self) -> Option<(u64, u32)> {
        loop {
            let (first, count) = *self.wanted.first()?;
            if self.done < count {
                // A number beyond 64 bits is missing as the largest is.
                return Some((first.saturating_add(self.done.into()), count - self.done));
            }
            (self.wanted, self.done) = (&self.wanted[1..], 0);
        }
    }

    fn advance(&mut self, count: u32) {
        self.done += count;
    }
}

/// A database with windows of one stream only, for benchmarks: the store's table and scan.
pub(crate) struct SumsFile(Connection);

impl SumsFile {
    pub(crate) fn create(file: &Path, header: &StreamHeader) -> Result<Self, StoreError> {
        let connection = startup::connect(file)?;
        connection.pragma_update(None, "foreign_keys", false)?;
        stream::keep(&connection, header)?;
        Ok(Self(connection))
    }

    /// Inserts windows in one transaction.
    pub(crate) fn insert(&mut self, windows: impl Iterator<Item = Envelope>) -> Result<(), StoreError> {
        let transaction = self.0.transaction()?;
        for window in windows {
            insert(&transaction, &window)?;
        }
        Ok(transaction.commit()?)
    }

    /// Like [`Store::scan_sums`].
    pub(crate) fn scan<E: From<StoreError>>(
        &self,
        header: &StreamHeader,
        wanted: &[(u64, u32)],
        take: impl FnMut(&Run<'_>, usize, usize) -> Result<(), E>,
    ) -> Result<Scanned, E> {
        scan(&self.0, header, wanted, take)
    }
}
