//! Trees of sums: the sums of the windows of a block of time, and of its parts, are there before anyone asks.
//!
//! A node has consecutive numbers of one segment, and is taken in place of windows that a request names one behind the other, all in
//! the same sums. It goes with its segment, so windows that were deleted, or are part of a roll-up, are in none. All can be made again.

mod make;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_api::streams::{PartsOf, WindowsOf};
use sotto_wire::{MaskName, PartSum, StreamHeader, SumBlocks, SumsAnswer};

use super::sealed::runs;
use super::{Store, StoreError, count};

/// Bytes of a digest that stands beside sums.
const DIGEST_BYTES: usize = 16;

fn digest(sums: &[u8]) -> [u8; DIGEST_BYTES] {
    let mut digest = [0; DIGEST_BYTES];
    digest.copy_from_slice(&blake3::hash(sums).as_bytes()[..DIGEST_BYTES]);
    digest
}

/// Windows of a block of time whose sums are to be made.
pub(crate) struct Summable {
    log: i64,
    pub(crate) header: Arc<StreamHeader>,
    /// The number of the first window, and how many follow it, itself included.
    first: u64,
    count: u32,
    /// The windows of each node, counted from the first.
    nodes: Vec<Range<u32>>,
}

/// The nodes of a segment: the frames of their sums.
pub(crate) struct Nodes {
    segment: i64,
    rows: Vec<(Summable, Vec<u8>)>,
}

impl Nodes {
    pub(crate) fn of(segment: i64) -> Self {
        Self { segment, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, of: Summable, frame: Vec<u8>) {
        self.rows.push((of, frame));
    }
}

impl Summable {
    /// Returns the request whose answer has the sums.
    pub(crate) fn request(&self) -> WindowsOf {
        let parts: Vec<u8> = self.header.adding_parts().collect();
        let sum = |node: &Range<u32>| PartsOf {
            windows: (node.start, node.len() as u32),
            parts: parts.clone(),
            weights: None,
        };
        WindowsOf { windows: vec![(self.first, self.count)], sums: self.nodes.iter().map(sum).collect() }
    }
}

/// A row of nodes.
struct Row<'h> {
    /// The number of the first window.
    first: u64,
    names: Vec<MaskName>,
    /// By their first window, the longest first.
    sums: Vec<PartSum<'h>>,
}

impl Row<'_> {
    fn end(&self) -> u64 {
        self.first + self.names.len() as u64
    }
}

/// Finds nodes for the windows of a request, in the order of the request.
pub(super) struct Finder<'h> {
    header: &'h StreamHeader,
    /// Windows of the request at which a sum begins or ends, ascending. None if sums need their windows one by one.
    cuts: Option<Vec<usize>>,
    /// Nodes of fewer windows are not looked for, unless they follow another one.
    least: u64,
    /// The number behind the last node that was found.
    behind: u64,
    row: Option<Row<'h>>,
    /// There is no node from the first number on that is below the second.
    none: (u64, u64),
}

/// The sum that begins with a window, or where to look for the next one.
pub(super) enum At<'f, 'h> {
    /// The sum of windows with these pads.
    Node(&'f [MaskName], &'f PartSum<'h>),
    /// No node that the request can use. The next one may begin with this number.
    NoneBelow(u64),
}

impl<'h> Finder<'h> {
    pub(super) fn new(header: &'h StreamHeader, request: &WindowsOf) -> Self {
        // Half the windows of a part.
        let least = SumBlocks::of_stream(header)
            .map_or(u64::MAX, |(_, most)| (most / u64::from(2 * SumBlocks::PARTS)).max(1));
        let is_long = request.sums.iter().any(|sum| u64::from(sum.windows.1) >= least);
        let adds = |part: &u8| header.adds(*part);
        let is_plain = request.sums.iter().all(|sum| sum.weights.is_none() && sum.parts.iter().all(adds));
        let ends = request.sums.iter().flat_map(|sum| {
            let first = sum.windows.0 as usize;
            [first, first + sum.windows.1 as usize]
        });
        let cuts = (is_long && is_plain).then(|| {
            let mut cuts: Vec<usize> = ends.collect();
            cuts.sort_unstable();
            cuts.dedup();
            cuts
        });
        Self { header, cuts, least, behind: u64::MAX, row: None, none: (0, 0) }
    }

    /// Returns the longest node that begins with a window, has at most `most` of those that follow it, and is in every sum of the
    /// request as a whole or not at all. `at` is the place of the window in the request.
    pub(super) fn at(
        &mut self,
        store: &Store,
        first: u64,
        most: u32,
        at: usize,
    ) -> Result<At<'_, 'h>, StoreError> {
        let Some(cuts) = &self.cuts else { return Ok(At::NoneBelow(u64::MAX)) };
        let next_cut = cuts.get(cuts.partition_point(|cut| *cut <= at));
        let most = u64::from(most).min(next_cut.map_or(u64::MAX, |cut| (cut - at) as u64));
        if most < self.least && first != self.behind {
            return Ok(At::NoneBelow(u64::MAX));
        }
        if (self.none.0..self.none.1).contains(&first) {
            return Ok(At::NoneBelow(self.none.1));
        }
        if !self.row.as_ref().is_some_and(|row| (row.first..row.end()).contains(&first)) {
            match read(&store.connection(), self.header, first)? {
                Found::Row(row) => self.row = Some(row),
                Found::NoneBelow(number) => {
                    self.none = (first, number);
                    return Ok(At::NoneBelow(number));
                }
            }
        }
        let Some(row) = &self.row else { return Ok(At::NoneBelow(u64::MAX)) };
        let behind = (first - row.first) as u32;
        let from = row.sums.partition_point(|sum| sum.windows.0 < behind);
        let mut of_first = row.sums[from..].iter().take_while(|sum| sum.windows.0 == behind);
        if let Some(sum) = of_first.find(|sum| u64::from(sum.windows.1) <= most) {
            let (from, count) = (sum.windows.0 as usize, sum.windows.1 as usize);
            self.behind = first + count as u64;
            return Ok(At::Node(&row.names[from..from + count], sum));
        }
        let next = row.sums[from..].iter().find(|sum| sum.windows.0 > behind);
        Ok(At::NoneBelow(next.map_or(row.end(), |sum| row.first + u64::from(sum.windows.0))))
    }
}

/// Outcome of a look at the nodes of a number.
enum Found<'h> {
    Row(Row<'h>),
    /// There is no node of this number, nor of those that follow it below this one.
    NoneBelow(u64),
}

/// A row as it is stored: the first number, the windows, the digest, the sums, and if it is of the stream's header.
type StoredRow = (u64, u64, [u8; DIGEST_BYTES], Vec<u8>, bool);

/// Reads the row of nodes that has a number.
fn read<'h>(connection: &Connection, header: &'h StreamHeader, number: u64) -> Result<Found<'h>, StoreError> {
    let log = runs::log_of(connection, header.device(), header.stream())?;
    let (Some(log), Ok(at)) = (log, i64::try_from(number)) else {
        return Ok(Found::NoneBelow(u64::MAX));
    };
    let mut query = connection.prepare_cached(
        "SELECT number, windows, digest, sums, stream_tag = ?3 FROM nodes WHERE log = ?1 AND number <= ?2
         ORDER BY number DESC LIMIT 1",
    )?;
    let of = params![log, at, header.id().tag().0];
    let row =
        |row: &rusqlite::Row<'_>| Ok((count(row, 0)?, count(row, 1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    let before: Option<StoredRow> = query.query_row(of, row).optional()?;
    if let Some((first, windows, digest, sums, is_of_stream)) =
        before.filter(|(first, windows, ..)| number - first < *windows)
    {
        if !is_of_stream {
            return Ok(Found::NoneBelow(first + windows));
        }
        return Ok(match parsed(header, first, windows, &digest, &sums) {
            Some(row) => Found::Row(row),
            None => {
                tracing::error!(
                    first,
                    windows,
                    "stored sums are damaged: the windows are read. `sotto-cloud repair` makes them again"
                );
                Found::NoneBelow(first + windows)
            }
        });
    }
    let mut query = connection
        .prepare_cached("SELECT number FROM nodes WHERE log = ?1 AND number > ?2 ORDER BY number LIMIT 1")?;
    let next = query.query_row(params![log, at], |row| count(row, 0)).optional()?;
    Ok(Found::NoneBelow(next.unwrap_or(u64::MAX)))
}

/// Returns None if the bytes are not those that were written.
fn parsed<'h>(
    header: &'h StreamHeader,
    first: u64,
    windows: u64,
    digest_of: &[u8; DIGEST_BYTES],
    sums: &[u8],
) -> Option<Row<'h>> {
    if digest(sums) != *digest_of {
        return None;
    }
    let answer = SumsAnswer::read(sums, header, sums.len() as u64, u32::try_from(windows).ok()?).ok()?;
    let (names, mut sums): (Vec<MaskName>, _) = (answer.names.iter().collect(), answer.sums);
    sums.sort_by_key(|sum| (sum.windows.0, Reverse(sum.windows.1)));
    (names.len() as u64 == windows).then_some(Row { first, names, sums })
}

impl Store {
    /// Returns rows of nodes whose bytes are not those that were written, a line each.
    pub(super) fn damaged_nodes(&self, connection: &Connection) -> Result<Vec<(i64, String)>, StoreError> {
        let mut query = connection.prepare(
            "SELECT nodes.segment, device, stream, number, windows, digest, sums FROM nodes JOIN logs ON logs.id = log",
        )?;
        let (mut rows, mut damaged) = (query.query([])?, Vec::new());
        while let Some(row) = rows.next()? {
            let (of, sums): ([u8; DIGEST_BYTES], Vec<u8>) = (row.get(5)?, row.get(6)?);
            if digest(&sums) != of {
                let (device, stream): (String, String) = (row.get(1)?, row.get(2)?);
                let (first, windows) = (count(row, 3)?, count(row, 4)?);
                let text = format!(
                    "cloud.sqlite: stored sums of windows {first} to {} of {device}, {stream} are damaged; the windows are read instead",
                    first + windows - 1
                );
                damaged.push((row.get(0)?, text));
            }
        }
        Ok(damaged)
    }

    /// Drops the nodes of segments of which some are damaged: they are made again.
    pub(super) fn drop_damaged_nodes(&self) -> Result<(), StoreError> {
        self.transaction(|transaction| {
            for (segment, _) in self.damaged_nodes(transaction)? {
                make::again(transaction, segment)?;
            }
            Ok(())
        })
    }
}
