//! Sums of windows of streams of sums.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sotto_api::reason;
use sotto_api::streams::{PartsOf, WindowsOf};
use sotto_evaluate::{SumError, TaggedRows, TaggedSum, TaggedSumming};
use sotto_wire::{MaskName, RollUp, StreamHeader, StreamTag, SumsAnswer};

use crate::cloud::Cloud;
use crate::id::from_hex;
use crate::lake;
use crate::problem::Problem;
use crate::store::{Nodes, Rolled, RolledUp, Run, Scanned, Sealing, Store, StoreError, Summed, Taken};

/// Maximum windows that are added together.
const BATCH: usize = 4096;

/// Adds the windows of a request. Returns the frame of the sums.
pub(crate) fn sums(cloud: &Cloud, stream: &str, request: &WindowsOf) -> Result<Vec<u8>, Problem> {
    let unknown = || Problem::not_found(reason::UNKNOWN_STREAM, "there is no stream of sums with this tag");
    let tag = from_hex(stream).map(StreamTag).ok_or_else(unknown)?;
    let header = cloud.store.stream(tag)?.filter(|header| header.is_of_sums()).ok_or_else(unknown)?;
    if let Some(frame) = by_lake(cloud, &header, request)? {
        return Ok(frame);
    }
    add(&header, request, |take| match cloud.store.scan_sums(&header, request, take)? {
        Scanned::Missing(number) => match cloud.store.dropped(&header, number)? {
            Some(dropped) => Err(dropped.into()),
            None => Ok(Scanned::Missing(number)),
        },
        scanned => Ok(scanned),
    })
}

/// Hands a large request to the lake. Requests that the cloud would refuse are refused here.
fn by_lake(cloud: &Cloud, header: &StreamHeader, request: &WindowsOf) -> Result<Option<Vec<u8>>, Problem> {
    if cloud.config.lake.is_none() {
        return Ok(None);
    }
    summing(header, request)?;
    Ok(lake::sums(&cloud.config, header, request))
}

/// Checks a request, and makes its empty sums.
fn summing<'h, 'r>(
    header: &'h StreamHeader,
    request: &'r WindowsOf,
) -> Result<TaggedSumming<'h, 'r>, Problem> {
    let windows = request.windows.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add((*count).into()));
    let wanted = request.sums.iter().map(|sum| TaggedSum {
        windows: sum.windows,
        parts: &sum.parts,
        weights: sum.weights.as_deref(),
    });
    let windows = usize::try_from(windows).unwrap_or(usize::MAX);
    TaggedSumming::new(header, windows, wanted.collect()).map_err(refused)
}

/// Callback that receives the windows of a scan.
pub(crate) type Take<'t> = &'t mut dyn FnMut(Taken<'_>) -> Result<(), Problem>;

/// Adds the windows that a scan yields.
pub(crate) fn add(
    header: &StreamHeader,
    request: &WindowsOf,
    scan: impl FnOnce(Take<'_>) -> Result<Scanned, Problem>,
) -> Result<Vec<u8>, Problem> {
    let mut summing = summing(header, request)?;
    let (mut batch, mut kept) = (Batch::new(header.parts().len(), request), Kept::default());
    let scanned = scan(&mut |taken| {
        let (run, from, count) = match taken {
            Taken::Windows(run, from, count) => (run, from, count),
            Taken::Rolled(names, rolled) => {
                batch.flush(&mut summing)?;
                return kept.take(&mut summing, names, rolled);
            }
            Taken::Values(run) => return values(&mut summing, run),
            Taken::Summed(names, sum) => {
                batch.flush(&mut summing)?;
                let at = summing.named();
                summing.name(names).map_err(refused)?;
                let windows = at..at + names.len();
                return summing.add_rolled(std::slice::from_ref(&windows), sum).map_err(refused);
            }
        };
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
    kept.add(header, &mut summing)?;
    summing.frame().map_err(refused)
}

/// Adds the parts that stay of the window that was named last.
fn values(summing: &mut TaggedSumming<'_, '_>, run: &Run<'_>) -> Result<(), Problem> {
    let counts: Vec<Vec<u16>> = run.parts.iter().map(|part| read_counts(part.counts)).collect();
    let parts: Vec<(&[u16], &[u8])> =
        counts.iter().zip(&run.parts).map(|(counts, part)| (&counts[..], part.some(0, 1))).collect();
    let at = summing.named().saturating_sub(1);
    summing.add_values(at, run.ticks, &parts).map_err(refused)
}

fn read_counts(stored: &[u8]) -> Vec<u16> {
    stored.as_chunks().0.iter().map(|count| u16::from_le_bytes(*count)).collect()
}

/// Windows of a request of which a sum is kept.
#[derive(Default)]
struct Kept {
    /// By the number of the sum.
    sums: BTreeMap<i64, KeptSum>,
}

struct KeptSum {
    windows: u64,
    frame: Vec<u8>,
    /// The runs of places that its windows have in the request.
    places: Vec<Range<usize>>,
    /// The pads of these windows.
    pads: BTreeSet<([u8; 12], u64)>,
}

impl Kept {
    fn take(
        &mut self,
        summing: &mut TaggedSumming<'_, '_>,
        names: &[MaskName],
        rolled: &Rolled,
    ) -> Result<(), Problem> {
        let at = summing.named();
        summing.name(names).map_err(refused)?;
        let sum = self.sums.entry(rolled.id).or_insert_with(|| KeptSum {
            windows: rolled.windows(),
            frame: rolled.sums.clone(),
            places: Vec::new(),
            pads: BTreeSet::new(),
        });
        sum.places.push(at..at + names.len());
        sum.pads.extend(names.iter().map(|name| (name.salt, name.sequence)));
        Ok(())
    }

    /// Adds the sums. Each needs all of its windows.
    fn add(&self, header: &StreamHeader, summing: &mut TaggedSumming<'_, '_>) -> Result<(), Problem> {
        let damaged = |reason: String| Problem::from(StoreError::Damaged(format!("a roll-up: {reason}")));
        for KeptSum { windows, frame, places, pads } in self.sums.values() {
            if !summing.wants_sums_of(places) {
                continue;
            }
            let asked = places.iter().map(|run| run.len() as u64).sum::<u64>();
            if asked != *windows || pads.len() as u64 != asked {
                let detail = format!(
                    "{windows} windows of stream {} were rolled up into one sum: a request names each of them once, or none",
                    header.stream()
                );
                return Err(Problem::unprocessable(reason::WRONG_SUM, detail));
            }
            let kept = SumsAnswer::read(frame, header, frame.len() as u64, *windows as u32)
                .map_err(|error| damaged(error.to_string()))?;
            let sum = kept.sums.first().ok_or_else(|| damaged("it has no sum".to_owned()))?;
            summing.add_rolled(places, sum).map_err(refused)?;
        }
        Ok(())
    }
}

/// Adds up the groups of windows of an order, and keeps their sums in place of their bodies.
pub(crate) fn roll_up(cloud: &Cloud, device: &str, order: &RollUp) -> Result<RolledUp, Problem> {
    // The newest windows may be in no segment yet.
    cloud.store.seal(Sealing::All)?;
    let mut summed = Vec::new();
    for group in cloud.store.to_roll_up(device, order)? {
        let (windows, parts) = (group.windows(), group.parts());
        let count = u32::try_from(windows).unwrap_or(u32::MAX);
        if parts.is_empty() {
            continue;
        }
        let sum = PartsOf { windows: (0, count), parts, weights: None };
        let request = WindowsOf { windows: group.numbers(), sums: vec![sum] };
        let scan = |take: Take<'_>| cloud.store.scan_sums(&group.header, &request, take);
        match add(&group.header, &request, scan) {
            Ok(sums) => summed.push(Summed { group, sums }),
            Err(problem) if problem.status.is_client_error() => {
                tracing::warn!(
                    device,
                    stream = order.stream,
                    problem.detail,
                    "a group of an order stays as it is"
                );
            }
            Err(problem) => return Err(problem),
        }
    }
    Ok(cloud.store.keep_roll_ups(&summed)?)
}

/// Makes the nodes of a segment that has none yet. Returns false if there is no such segment here.
pub(crate) fn make_nodes(store: &Store) -> Result<bool, Problem> {
    let Some((segment, all)) = store.to_sum()? else { return Ok(false) };
    let mut nodes = Nodes::of(segment);
    for summable in all {
        let request = summable.request();
        match add(&summable.header, &request, |take| store.scan_sums(&summable.header, &request, take)) {
            Ok(frame) => nodes.push(summable, frame),
            // Who asks for these windows is told why.
            Err(problem) => {
                tracing::warn!(problem.detail, "some windows get no sums that are there before anyone asks");
            }
        }
    }
    store.keep_nodes(&nodes)?;
    Ok(true)
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
            counts[*part] = read_counts(stored);
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
