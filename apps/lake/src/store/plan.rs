//! Makes plans: decides which blocks, windows that no segment has yet, and sums in place of windows a query reads.

use std::collections::{BTreeMap, HashMap};

use sotto_pack::Replaced;
use sotto_segment::{Segment, Window};
use sotto_wire::{Digest, Envelope, StreamHeader, StreamTag, message_digest};

use super::catalogue::{Catalogue, Registered, RolledUp, Run, Snapshot, Waiting};
use super::files::{Files, name_of};
use super::filter::Filter;
use super::planned::{Header, Loose, Planned, Rolled, Unit};
use super::superseded::{Superseded, longest};
use crate::LakeError;

/// The beginning of the head that stays of a piece. No window's message begins so.
const HEAD: &[u8] = b"head";

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
    let mut superseded = Superseded::default();
    if !filter.every {
        for (segment, runs) in by_segment(Superseded::near(&snapshot, &selected, filter)) {
            superseded.read(&snapshot, &*files.segment(&segment).await?, &segment, &runs)?;
        }
        waiting.iter().for_each(|(window, envelope)| superseded.note(window, envelope));
    }
    let mut planning = Planning { planned: Planned::default(), indexes: HashMap::new(), snapshot: &snapshot };
    planning.units(&selected, &superseded, filter);
    for (window, envelope) in waiting {
        planning.loose(window, &envelope, &superseded, filter);
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

/// Returns the runs by the segments that they are in.
fn by_segment(runs: Vec<&Run>) -> BTreeMap<Digest, Vec<&Run>> {
    let mut all: BTreeMap<Digest, Vec<&Run>> = BTreeMap::new();
    runs.into_iter().for_each(|run| all.entry(run.segment).or_default().push(run));
    all
}

/// Returns false for runs without a window that matches. A window without a reading has nothing to add, and is no row.
fn may_match(run: &Run, snapshot: &Snapshot, filter: &Filter) -> bool {
    let Some(registered) = snapshot.headers.get(&run.tag) else { return false };
    let last = run.number.saturating_add(run.windows - 1).min(i64::MAX as u64).cast_signed();
    let first = run.number.min(i64::MAX as u64).cast_signed();
    let may_have = |times| filter.may_have(times, longest(&registered.header));
    (filter.every || run.times.is_some_and(may_have)) && first <= filter.numbers.1 && last >= filter.numbers.0
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

    fn units(&mut self, selected: &[&Run], superseded: &Superseded, filter: &Filter) {
        let mut blocks: BTreeMap<(i64, u64), Unit> = BTreeMap::new();
        let mut of_block: HashMap<(Digest, u32), (i64, u64)> = HashMap::new();
        for run in selected {
            let Some(of) = self.snapshot.headers.get(&run.tag) else { continue };
            let place = *of_block.entry((run.segment, run.block)).or_insert((run.log, run.number));
            let header = self.header(run.tag, of);
            let unit = blocks.entry(place).or_insert_with(|| Unit {
                header,
                segment: hex::encode(run.segment),
                block: run.block,
                rows: Vec::new(),
                replaced: Vec::new(),
            });
            unit.rows.push((run.row, u32::try_from(run.windows).unwrap_or(u32::MAX), run.number));
            let log = self.snapshot.logs.get(&run.log).and_then(|log| superseded.of(log));
            if let Some(replaced) = log.filter(|_| !filter.every) {
                for number in replaced.numbers_in(run.number..run.number.saturating_add(run.windows)) {
                    let columns = columns(&of.header, &replaced.channels(number));
                    if !columns.is_empty() {
                        unit.replaced.push((number, columns));
                    }
                }
            }
        }
        self.planned.units = blocks.into_values().collect();
    }

    fn loose(&mut self, window: &Waiting, envelope: &Envelope, superseded: &Superseded, filter: &Filter) {
        let Some(of) = self.snapshot.headers.get(&window.tag) else { return };
        let Some(Window::Whole { facts, .. }) = Window::whole(envelope) else { return };
        let (number, start) = (facts.fields.sequence, facts.fields.start);
        if (facts.readings == 0 && !filter.every) || !filter.has_window(number, start) {
            return;
        }
        let replaced: Option<&Replaced> = superseded.of(&window.log).filter(|_| !filter.every);
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
        let name = name_of(&head.segment);
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
