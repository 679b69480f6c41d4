//! The windows that a query reads: blocks of segments, windows that no segment has yet, and sums that stay in place of windows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sotto_segment::{Segment, Window};
use sotto_wire::{Digest, Envelope, StreamHeader, StreamTag, message_digest, window_description};

use super::catalogue::{Catalogue, Registered, RolledUp, Run, Snapshot, Waiting};
use super::files::Files;
use super::filter::Filter;
use crate::LakeError;
use sotto_pack::Replaced;

/// The flag of a head that names windows in whose place its window comes (docs/concepts/wire.md).
const REPLACES: u8 = 16;
/// No window of a message is so: it is what stays of a piece.
const HEAD: &[u8] = b"head";

/// A stream's header, as it is registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The frame in hexadecimal.
    pub(crate) frame: String,
}

/// Rows of a block to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// The index of the header.
    pub(crate) header: u32,
    /// The digest of the segment in hexadecimal.
    pub(crate) segment: String,
    pub(crate) block: u32,
    /// The first row and how many, of each run, and the number of its first window.
    pub(crate) rows: Vec<(u32, u32, u64)>,
    /// Numbers of windows of which some channels do not count, with the columns of these.
    pub(crate) replaced: Vec<(u64, Vec<u16>)>,
}

/// A window that no segment has yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loose {
    pub(crate) header: u32,
    /// The message in hexadecimal.
    pub(crate) message: String,
    pub(crate) position: u64,
    pub(crate) stored_at: i64,
    /// The columns of channels that do not count.
    pub(crate) replaced: Vec<u16>,
}

/// A sum that stays in place of its windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rolled {
    pub(crate) header: u32,
    /// The frame in hexadecimal.
    pub(crate) frame: String,
    /// Runs of numbers: the first, and how many.
    pub(crate) numbers: Vec<(u64, u64)>,
    pub(crate) stored_at: i64,
    /// The start of its first window: milliseconds since 1970.
    pub(crate) start: i64,
}

/// Everything that a query reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Planned {
    pub(crate) headers: Vec<Header>,
    pub(crate) units: Vec<Unit>,
    pub(crate) loose: Vec<Loose>,
    pub(crate) rolled: Vec<Rolled>,
}

/// Makes the plan of the windows that match, as they are at this moment.
pub(crate) async fn plan(
    catalogue: &Catalogue,
    files: &Files,
    filter: &Filter,
) -> Result<Planned, LakeError> {
    if filter.nothing {
        return Ok(Planned::default());
    }
    let snapshot = catalogue.snapshot(filter)?;
    let mut waiting = Vec::new();
    for window in &snapshot.waiting {
        waiting.extend(opened(window, &snapshot)?.map(|opened| (window, opened)));
    }
    let selected: Vec<&Run> = snapshot.runs.iter().filter(|run| may_match(run, &snapshot, filter)).collect();
    let near = if filter.every { Vec::new() } else { near(&snapshot, &selected, filter) };
    let mut segments = HashMap::new();
    for run in selected.iter().chain(&near) {
        if !segments.contains_key(&run.segment) {
            segments.insert(run.segment, files.segment(&run.segment).await?);
        }
    }
    let replaced = replaced(&snapshot, &near, &waiting, &segments)?;
    let mut planning = Planning { planned: Planned::default(), indexes: HashMap::new(), snapshot: &snapshot };
    planning.units(&selected, &segments, &replaced, filter)?;
    for (window, envelope) in waiting {
        planning.loose(window, &envelope, &replaced, filter);
    }
    for rolled in &snapshot.rolled {
        if !filter.every && may_match(&rolled.head, &snapshot, filter) {
            let segment = files.segment(&rolled.head.segment).await?;
            planning.rolled(rolled, &segment, filter)?;
        }
    }
    Ok(planning.planned)
}

/// Reads a window that no segment has yet. Returns None for the head that stays of a piece.
fn opened(window: &Waiting, snapshot: &Snapshot) -> Result<Option<Envelope>, LakeError> {
    if window.message.starts_with(HEAD) {
        return Ok(None);
    }
    let wrong = |reason: String| LakeError::Damaged(format!("a window of `{}`: {reason}", window.log.0));
    if message_digest(&window.message).ok() != Some(window.digest) {
        return Err(wrong("its digest is another one".to_owned()));
    }
    let Some(Registered { header, .. }) = snapshot.headers.get(&window.tag) else { return Ok(None) };
    Envelope::read_window(&window.message, header).map(Some).map_err(|error| wrong(error.to_string()))
}

fn longest(header: &StreamHeader) -> i64 {
    header.period().milliseconds_of(header.layout().ticks().into()).ceil() as i64
}

/// Returns false for runs without a window that matches. A window without a reading has nothing to add, and is no row.
fn may_match(run: &Run, snapshot: &Snapshot, filter: &Filter) -> bool {
    let Some(registered) = snapshot.headers.get(&run.tag) else { return false };
    let last = run.number.saturating_add(run.windows - 1).min(i64::MAX as u64).cast_signed();
    let first = run.number.min(i64::MAX as u64).cast_signed();
    let may_have = |times| filter.may_have(times, longest(&registered.header));
    (filter.every || run.times.is_some_and(may_have)) && first <= filter.numbers.1 && last >= filter.numbers.0
}

/// Returns the runs that may have windows in whose place selected ones are not: a window overlaps those in whose place it comes.
fn near<'s>(snapshot: &'s Snapshot, selected: &[&Run], filter: &Filter) -> Vec<&'s Run> {
    let mut spans: HashMap<i64, (i64, i64)> = HashMap::new();
    for run in selected {
        let (Some((first, last)), Some(of)) = (run.times, snapshot.headers.get(&run.tag)) else { continue };
        let longest = longest(&of.header);
        // Only windows that match count: their readings are in this span.
        let first = first.max(filter.starts.0);
        let last = last.min(filter.starts.1.saturating_add(longest));
        let span = spans.entry(run.log).or_insert((first, last));
        *span = (span.0.min(first.saturating_sub(longest)), span.1.max(last.saturating_add(longest)));
    }
    let overlaps = |run: &&Run| {
        let Some((first, last)) = spans.get(&run.log) else { return false };
        run.times.is_none_or(|times| times.0 <= *last && times.1 >= *first)
    };
    snapshot.runs.iter().filter(overlaps).collect()
}

type Segments = HashMap<Digest, Arc<Segment>>;

/// Returns the segment of a run, which was opened.
fn segment_of<'s>(run: &Run, segments: &'s Segments) -> Result<(&'s Segment, String), LakeError> {
    let name = super::files::name_of(&run.segment);
    let segment = segments.get(&run.segment).ok_or_else(|| LakeError::Missing(name.clone()))?;
    Ok((segment, name))
}

/// Finds the windows in whose place others come, by log.
fn replaced(
    snapshot: &Snapshot,
    near: &[&Run],
    waiting: &[(&Waiting, Envelope)],
    segments: &Segments,
) -> Result<HashMap<(String, String), Replaced>, LakeError> {
    let mut all: HashMap<(String, String), Replaced> = HashMap::new();
    let mut seen: HashMap<(Digest, u32), Arc<Vec<u8>>> = HashMap::new();
    for run in near {
        let (segment, name) = segment_of(run, segments)?;
        let key = (run.segment, run.block);
        let flags = match seen.get(&key) {
            Some(flags) => Arc::clone(flags),
            None => {
                let flags = segment.flags(run.block as usize).map_err(LakeError::segment(&name))?;
                let flags = Arc::new(flags);
                seen.insert(key, Arc::clone(&flags));
                flags
            }
        };
        let rows = run.row as usize..(run.row as usize).saturating_add(run.windows as usize);
        let of_run = flags.get(rows.clone());
        let of_run = of_run.ok_or_else(|| LakeError::Damaged(format!("segment {name} has fewer rows")))?;
        if of_run.iter().all(|flags| flags & REPLACES == 0) {
            continue;
        }
        let (Some(log), Some(of)) = (snapshot.logs.get(&run.log), snapshot.headers.get(&run.tag)) else {
            continue;
        };
        let block = segment.block(run.block as usize).map_err(LakeError::segment(&name))?;
        for row in rows.filter(|row| flags.get(*row).is_some_and(|flags| flags & REPLACES != 0)) {
            let head = block.head(row, &of.header);
            let window = window_description(&head, &of.header)
                .map_err(|error| LakeError::Segment { name: name.clone(), reason: error.to_string() })?;
            all.entry(log.clone()).or_default().add(block.sequence(row), &window);
        }
    }
    for (window, envelope) in waiting.iter().filter(|(_, envelope)| envelope.replaces()) {
        let signed = envelope.signed_header();
        if let Some(description) = signed.description() {
            all.entry(window.log.clone()).or_default().add(signed.header().sequence, &description);
        }
    }
    Ok(all)
}

/// Returns the columns of a header's channels.
fn columns(header: &StreamHeader, channels: &std::collections::BTreeSet<&str>) -> Vec<u16> {
    let all = (0..).zip(header.layout().channels());
    all.filter(|(_, channel)| channels.contains(channel.name.as_str())).map(|(column, _)| column).collect()
}

struct Planning<'s> {
    planned: Planned,
    indexes: HashMap<StreamTag, u32>,
    snapshot: &'s Snapshot,
}

impl Planning<'_> {
    fn header(&mut self, tag: StreamTag, of: &Registered) -> u32 {
        let headers = &mut self.planned.headers;
        *self.indexes.entry(tag).or_insert_with(|| {
            headers.push(Header { frame: hex::encode(&of.frame) });
            (headers.len() - 1) as u32
        })
    }

    fn units(
        &mut self,
        selected: &[&Run],
        segments: &Segments,
        replaced: &HashMap<(String, String), Replaced>,
        filter: &Filter,
    ) -> Result<(), LakeError> {
        let mut blocks: BTreeMap<(i64, u64), Unit> = BTreeMap::new();
        let mut of_block: HashMap<(Digest, u32), (i64, u64)> = HashMap::new();
        let mut skipped = HashSet::new();
        for run in selected {
            let key = (run.segment, run.block);
            if skipped.contains(&key) {
                continue;
            }
            let Some(of) = self.snapshot.headers.get(&run.tag) else { continue };
            let (segment, _) = segment_of(run, segments)?;
            if !of_block.contains_key(&key)
                && segment.starts(run.block as usize).is_some_and(|starts| !filter.may_start(starts))
            {
                skipped.insert(key);
                continue;
            }
            let place = *of_block.entry(key).or_insert((run.log, run.number));
            let header = self.header(run.tag, of);
            let unit = blocks.entry(place).or_insert_with(|| Unit {
                header,
                segment: hex::encode(run.segment),
                block: run.block,
                rows: Vec::new(),
                replaced: Vec::new(),
            });
            unit.rows.push((run.row, u32::try_from(run.windows).unwrap_or(u32::MAX), run.number));
            let log = self.snapshot.logs.get(&run.log).and_then(|log| replaced.get(log));
            if let Some(replaced) = log.filter(|replaced| !replaced.is_empty()) {
                let numbers = run.number..run.number.saturating_add(run.windows);
                for number in replaced.numbers().filter(|number| numbers.contains(number)) {
                    let columns = columns(&of.header, &replaced.channels(number));
                    if !columns.is_empty() {
                        unit.replaced.push((number, columns));
                    }
                }
            }
        }
        self.planned.units = blocks.into_values().collect();
        Ok(())
    }

    fn loose(
        &mut self,
        window: &Waiting,
        envelope: &Envelope,
        replaced: &HashMap<(String, String), Replaced>,
        filter: &Filter,
    ) {
        let Some(of) = self.snapshot.headers.get(&window.tag) else { return };
        let Some(Window::Whole { facts, .. }) = Window::whole(envelope) else { return };
        let (number, start) = (facts.fields.sequence, facts.fields.start);
        if (facts.readings == 0 && !filter.every) || !filter.has_window(number, start) {
            return;
        }
        let replaced = replaced.get(&window.log).filter(|_| !filter.every);
        let replaced = replaced.map(|replaced| columns(&of.header, &replaced.channels(number)));
        let loose = Loose {
            header: self.header(window.tag, of),
            message: hex::encode(&window.message),
            position: window.position,
            stored_at: window.stored_at,
            replaced: replaced.unwrap_or_default(),
        };
        self.planned.loose.push(loose);
    }

    /// Takes a sum in whose first window matches.
    fn rolled(&mut self, rolled: &RolledUp, segment: &Segment, filter: &Filter) -> Result<(), LakeError> {
        let (head, Some((first, _))) = (&rolled.head, rolled.runs.first()) else { return Ok(()) };
        let Some(of) = self.snapshot.headers.get(&head.tag) else { return Ok(()) };
        let name = super::files::name_of(&head.segment);
        let block = segment.block(head.block as usize).map_err(LakeError::segment(&name))?;
        let row = (head.row as usize).saturating_add((first - head.number) as usize);
        if row >= block.rows() || block.sequence(row) != *first {
            return Err(LakeError::Damaged(format!("segment {name} is not as its catalogue says")));
        }
        if !filter.has_window(*first, block.start(row)) {
            return Ok(());
        }
        let rolled = Rolled {
            header: self.header(head.tag, of),
            frame: hex::encode(&rolled.frame),
            numbers: rolled.runs.clone(),
            stored_at: rolled.stored_at,
            start: block.start(row),
        };
        self.planned.rolled.push(rolled);
        Ok(())
    }
}
