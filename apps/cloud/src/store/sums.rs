//! Windows of streams of sums, in the order in which sums read them.

use std::sync::Arc;

use rusqlite::{Connection, params};
use sotto_api::streams::WindowsOf;
use sotto_wire::{MaskName, PartSum, StreamHeader};

use super::nodes::{At, Finder};
use super::rolled::{self, Rolled};
use super::run::Run;
use super::sealed::{Scanner, runs};
use super::waiting::{Counts, one};
use super::{Store, StoreError, count};
use crate::id::Id;
use sotto_segment::{Block, Kind};

/// Outcome of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scanned {
    All,
    /// The stream has no window with this number.
    Missing(u64),
}

/// Windows that a scan found.
pub(crate) enum Taken<'t> {
    /// Windows of a stored run: the index of the first one, and their number.
    Windows(&'t Run<'t>, usize, usize),
    /// Windows of a roll-up: their pads.
    Rolled(&'t [MaskName], &'t Rolled),
    /// Parts whose values do not add, of the window of a roll-up that was passed last. Other parts are empty.
    Values(&'t Run<'t>),
    /// Windows whose sum is there: their pads.
    Summed(&'t [MaskName], &'t PartSum<'t>),
}

/// Where the next wanted windows are.
enum Place {
    /// In a segment: the run, and its block.
    Sealed(Box<runs::SealedRun>, Arc<Block>),
    /// In the database.
    Waiting(Vec<Waiting>),
    /// In a roll-up, and the run of heads in a segment.
    Rolled(Arc<Rolled>, Box<runs::SealedRun>),
    Missing,
}

/// A window in the database.
struct Waiting {
    number: u64,
    bytes: Vec<u8>,
}

/// Maximum windows of the database that are read at a time.
const MOST_WAITING: u32 = 256;

impl Store {
    /// Passes the windows of a request about a stream of sums to `take`, in the order of the request.
    pub(crate) fn scan_sums<E: From<StoreError>>(
        &self,
        header: &Arc<StreamHeader>,
        request: &WindowsOf,
        mut take: impl FnMut(Taken<'_>) -> Result<(), E>,
    ) -> Result<Scanned, E> {
        let mut numbers = Numbers { wanted: &request.windows, done: 0, passed: 0 };
        let (mut scanner, mut nodes) = (Scanner::new(header)?, Finder::new(header, request));
        let values = ValuesOf::new(header, request);
        let mut counts = Counts::default();
        let mut last_rolled: Option<(Arc<Rolled>, Box<runs::SealedRun>)> = None;
        while let Some((first, most)) = numbers.next_run() {
            let most = match nodes.at(self, first, most, numbers.passed)? {
                At::Node(names, sum) => {
                    take(Taken::Summed(names, sum))?;
                    numbers.advance(names.len() as u32);
                    continue;
                }
                At::NoneBelow(number) => most.min(u32::try_from(number - first).unwrap_or(u32::MAX)),
            };
            if scanner.has(first) && !scanner.is_of_heads() {
                let windows = scanner.read(first, most)?;
                if windows == 0 {
                    return Ok(Scanned::Missing(first));
                }
                take(Taken::Windows(&scanner.run(first), 0, windows as usize))?;
                numbers.advance(windows);
                continue;
            }
            let is_at = |(rolled, run): &(Arc<Rolled>, Box<runs::SealedRun>)| {
                rolled.at(first).is_some() && (run.number..run.end()).contains(&first)
            };
            let place = match last_rolled.take().filter(is_at) {
                Some((rolled, run)) => Place::Rolled(rolled, run),
                None => match self.place(header, first, most) {
                    Err(error @ StoreError::Away(_)) => {
                        self.want_ahead(header, numbers.left())?;
                        return Err(error.into());
                    }
                    place => place?,
                },
            };
            match place {
                Place::Missing => return Ok(Scanned::Missing(first)),
                Place::Sealed(run, block) => scanner.begin(*run, block),
                Place::Rolled(rolled, run) => {
                    let Some((name, left)) = rolled.at(first) else { return Ok(Scanned::Missing(first)) };
                    let (is_wanted, until) = values.at(numbers.passed);
                    let left = left.min(most.into()).min(run.end() - first);
                    let windows = if is_wanted { 1 } else { left.min((until - numbers.passed) as u64) };
                    let names: Vec<MaskName> = (0..windows).map(|at| name.ahead(at)).collect();
                    take(Taken::Rolled(&names, &rolled))?;
                    if is_wanted {
                        if !scanner.has(first) {
                            scanner.begin((*run).clone(), self.block_apart(&run, true)?);
                        }
                        scanner.read_values(first)?;
                        take(Taken::Values(&scanner.run(first)))?;
                    }
                    numbers.advance(names.len() as u32);
                    last_rolled = Some((rolled, run));
                }
                Place::Waiting(windows) => {
                    for Waiting { number, bytes } in &windows {
                        if numbers.next_run().is_none_or(|(next, _)| next != *number) {
                            break;
                        }
                        one(header, bytes, &mut counts, |run| take(Taken::Windows(run, 0, 1)))?;
                        numbers.advance(1);
                    }
                }
            }
        }
        Ok(Scanned::All)
    }

    /// Finds the window of a stream with a number, and some that follow it. The block of a segment stays readable when the
    /// segment is replaced.
    fn place(&self, header: &Arc<StreamHeader>, first: u64, most: u32) -> Result<Place, StoreError> {
        let connection = self.connection();
        if i64::try_from(first).is_err() {
            return Ok(Place::Missing);
        }
        let (device, stream) = (header.device(), header.stream());
        if let Some(log) = runs::log_of(&connection, device, stream)?
            && let Some(run) = runs::run_of(&connection, log, first)?
        {
            if run.kind == Kind::Deleted || run.tag != header.id().tag() {
                return Ok(Place::Missing);
            }
            if run.kind == Kind::Head {
                let rolled = rolled::rolled(&connection, log, first)?;
                let in_roll_up = |rolled| Place::Rolled(Arc::new(rolled), Box::new(run));
                return Ok(rolled.map_or(Place::Missing, in_roll_up));
            }
            let named = |error: StoreError| error.of_windows(stream, run.number, run.end() - 1);
            let (segment, name) = self.segment(&connection, run.segment).map_err(named)?;
            // Reading takes long: uploads go on meanwhile.
            drop(connection);
            let block = self.block_of(&segment, &name, (run.segment, run.block), true).map_err(named)?;
            return Ok(Place::Sealed(Box::new(run), block));
        }
        let windows = self.waiting(&connection, header, first, most.min(MOST_WAITING))?;
        Ok(match windows.first() {
            Some(window) if window.number == first => Place::Waiting(windows),
            _ => Place::Missing,
        })
    }

    /// Reads whole windows of a stream in the database, from a number on, as long as their numbers follow each other.
    fn waiting(
        &self,
        connection: &Connection,
        header: &Arc<StreamHeader>,
        first: u64,
        most: u32,
    ) -> Result<Vec<Waiting>, StoreError> {
        let mut select = connection.prepare_cached(
            "SELECT id, sequence, message, digest FROM envelopes
             WHERE device = ?1 AND stream = ?2 AND sequence >= ?3 AND stream_tag = ?4 ORDER BY sequence LIMIT ?5",
        )?;
        let of = params![header.device(), header.stream(), first.cast_signed(), header.id().tag().0, most];
        let mut rows = select.query(of)?;
        let mut windows = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, number): (Id, u64) = (row.get(0)?, count(row, 1)?);
            if number != first + windows.len() as u64 {
                break;
            }
            let stored = match row.get::<_, Option<Vec<u8>>>(2)? {
                Some(message) => super::dropped::of_message(message, header)?,
                None => self.checked_bytes_on(connection, id, &row.get(3)?)?,
            };
            let super::dropped::StoredBytes::Whole(bytes) = stored else { break };
            windows.push(Waiting { number, bytes });
        }
        Ok(windows)
    }
}

/// Windows of a request of which a sum wants parts whose values do not add.
struct ValuesOf(Vec<(usize, usize)>);

impl ValuesOf {
    fn new(header: &StreamHeader, request: &WindowsOf) -> Self {
        let wanting = request.sums.iter().filter(|sum| !sum.parts.iter().all(|part| header.adds(*part)));
        let ranges = wanting.map(|sum| {
            let first = sum.windows.0 as usize;
            (first, first + sum.windows.1 as usize)
        });
        let mut ranges: Vec<(usize, usize)> = ranges.collect();
        ranges.sort_unstable();
        ranges.dedup_by(|next, before| {
            let joins = next.0 <= before.1;
            if joins {
                before.1 = before.1.max(next.1);
            }
            joins
        });
        Self(ranges)
    }

    /// Returns true if they are wanted of the window at a place of the request, and up to which place that is so.
    fn at(&self, place: usize) -> (bool, usize) {
        let next = self.0.partition_point(|(_, end)| *end <= place);
        match self.0.get(next) {
            Some((first, end)) if *first <= place => (true, *end),
            Some((first, _)) => (false, *first),
            None => (false, usize::MAX),
        }
    }
}

/// Runs of numbers, of which some are done.
struct Numbers<'w> {
    wanted: &'w [(u64, u32)],
    /// Numbers of the first run that are done.
    done: u32,
    /// Numbers of all runs that are done.
    passed: usize,
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

    /// Returns the runs of which some numbers are left.
    fn left(&self) -> &[(u64, u32)] {
        self.wanted
    }

    fn advance(&mut self, count: u32) {
        self.done += count;
        self.passed += count as usize;
    }
}
