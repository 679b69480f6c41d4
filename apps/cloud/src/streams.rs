//! Sums of windows of streams of sums.

use sotto_api::reason;
use sotto_api::streams::WindowsOf;
use sotto_evaluate::{SumError, TaggedRows, TaggedSum, TaggedSumming};
use sotto_wire::{MaskName, StreamHeader, StreamTag};

use crate::cloud::Cloud;
use crate::id::from_hex;
use crate::problem::Problem;
use crate::store::{Run, Scanned, StoreError};

/// Maximum windows that are added together.
const BATCH: usize = 4096;

/// Adds the windows of a request. Returns the frame of the sums.
pub(crate) fn sums(cloud: &Cloud, stream: &str, request: &WindowsOf) -> Result<Vec<u8>, Problem> {
    let unknown = || Problem::not_found(reason::UNKNOWN_STREAM, "there is no stream of sums with this tag");
    let tag = from_hex(stream).map(StreamTag).ok_or_else(unknown)?;
    let header = cloud.store.stream(tag)?.filter(|header| header.is_of_sums()).ok_or_else(unknown)?;
    add(&header, request, |take| match cloud.store.scan_sums(&header, &request.windows, take)? {
        Scanned::Missing(number) => match cloud.store.dropped(&header, number)? {
            Some(dropped) => Err(dropped.into()),
            None => Ok(Scanned::Missing(number)),
        },
        scanned => Ok(scanned),
    })
}

/// Callback that receives some windows of a stored run: the index of the first one, and their number.
pub(crate) type Take<'t> = &'t mut dyn FnMut(&Run<'_>, usize, usize) -> Result<(), Problem>;

/// Adds the windows that a scan yields.
pub(crate) fn add(
    header: &StreamHeader,
    request: &WindowsOf,
    scan: impl FnOnce(Take<'_>) -> Result<Scanned, Problem>,
) -> Result<Vec<u8>, Problem> {
    let windows = request.windows.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add((*count).into()));
    let wanted = request.sums.iter().map(|sum| TaggedSum {
        windows: sum.windows,
        parts: &sum.parts,
        weights: sum.weights.as_deref(),
    });
    let windows = usize::try_from(windows).unwrap_or(usize::MAX);
    let mut summing = TaggedSumming::new(header, windows, wanted.collect()).map_err(refused)?;
    let mut batch = Batch::new(header.parts().len(), request);
    let scanned = scan(&mut |run, from, count| {
        if !batch.has_form_of(run) || batch.names.len() + count > BATCH {
            batch.flush(&mut summing)?;
        }
        batch.push(run, from, count);
        Ok(())
    })?;
    if let Scanned::Missing(number) = scanned {
        let detail = format!("stream {} has no window with number {number}", header.stream());
        return Err(Problem::unprocessable(reason::UNKNOWN_ENVELOPE, detail));
    }
    batch.flush(&mut summing)?;
    summing.frame().map_err(refused)
}

/// Windows of equal lengths and counts, to be added together.
struct Batch {
    names: Vec<MaskName>,
    ticks: u32,
    /// For each part that a sum names: its number, its counts as stored, its rows.
    parts: Vec<(usize, Vec<u8>, Vec<u8>)>,
    of_stream: usize,
}

impl Batch {
    fn new(of_stream: usize, request: &WindowsOf) -> Self {
        let is_wanted = |part: &usize| {
            request.sums.iter().any(|sum| sum.parts.iter().any(|wanted| usize::from(*wanted) == *part))
        };
        let parts = (0..of_stream).filter(is_wanted).map(|part| (part, Vec::new(), Vec::new()));
        Self { names: Vec::new(), ticks: 0, parts: parts.collect(), of_stream }
    }

    fn has_form_of(&self, run: &Run<'_>) -> bool {
        self.ticks == run.ticks
            && self.parts.iter().all(|(part, counts, _)| counts.as_slice() == run.parts[*part].counts)
    }

    fn push(&mut self, run: &Run<'_>, from: usize, count: usize) {
        if self.names.is_empty() {
            self.ticks = run.ticks;
            for (part, counts, _) in &mut self.parts {
                counts.clear();
                counts.extend_from_slice(run.parts[*part].counts);
            }
        }
        self.names.extend((from..from + count).map(|at| run.name(at)));
        for (part, _, rows) in &mut self.parts {
            rows.extend_from_slice(run.parts[*part].some(from, count));
        }
    }

    fn flush(&mut self, summing: &mut TaggedSumming<'_, '_>) -> Result<(), Problem> {
        if self.names.is_empty() {
            return Ok(());
        }
        let mut counts: Vec<Vec<u16>> = vec![Vec::new(); self.of_stream];
        let mut parts = vec![(&[][..], &[][..]); self.of_stream];
        for (part, stored, _) in &self.parts {
            counts[*part] = stored.as_chunks().0.iter().map(|count| u16::from_le_bytes(*count)).collect();
        }
        for (part, _, rows) in &self.parts {
            parts[*part] = (&counts[*part], rows);
        }
        let rows = TaggedRows { names: &self.names, ticks: self.ticks, parts: &parts };
        summing.add_rows(&rows).map_err(refused)?;
        self.names.clear();
        self.parts.iter_mut().for_each(|(_, _, rows)| rows.clear());
        Ok(())
    }
}

/// Returns the refusal of sums. Stored windows were checked, so one that does not fit now is damaged.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn refused(error: SumError) -> Problem {
    match error {
        SumError::Request(detail) => Problem::unprocessable(reason::WRONG_SUM, detail),
        SumError::Frame(_) => StoreError::Damaged(error.to_string()).into(),
    }
}
