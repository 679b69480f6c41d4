//! Finds the windows in whose place others come.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use sotto_pack::Replaced;
use sotto_segment::Segment;
use sotto_wire::{Digest, Envelope, StreamHeader, window_description};

use super::catalogue::{Run, Snapshot, Waiting};
use super::files::name_of;
use super::filter::Filter;
use crate::LakeError;

type Log = (String, String);

/// Returns the milliseconds of the longest window of a stream, rounded up.
pub(super) fn longest(header: &StreamHeader) -> i64 {
    header.period().milliseconds_of(header.layout().ticks().into()).ceil() as i64
}

/// The windows in whose place others come, by device and stream.
#[derive(Default)]
pub(super) struct Superseded(HashMap<Log, Replaced>);

impl Superseded {
    /// Returns the runs that may have windows in whose place selected ones do not count: a window overlaps those in whose place it
    /// comes. Runs that the catalogue knows to have none are left out.
    pub(super) fn near<'s>(snapshot: &'s Snapshot, selected: &[&Run], filter: &Filter) -> Vec<&'s Run> {
        // Windows of one log may have several lengths, each of its header.
        let mut lengths: HashMap<(&str, &str), i64> = HashMap::new();
        for of in snapshot.headers.values() {
            let header = &of.header;
            let length = lengths.entry((header.device(), header.stream())).or_default();
            *length = longest(header).max(*length);
        }
        let mut spans: HashMap<i64, (i64, i64)> = HashMap::new();
        for run in selected {
            let (Some((first, last)), Some((device, stream))) = (run.times, snapshot.logs.get(&run.log))
            else {
                continue;
            };
            let longest = lengths.get(&(device.as_str(), stream.as_str())).copied().unwrap_or_default();
            // Only windows that match count: their readings are in this span. A window that overlaps one has its own readings
            // a length before or behind it at most.
            let first = first.max(filter.starts.0).saturating_sub(longest.saturating_mul(2));
            let last = last.min(filter.starts.1.saturating_add(longest));
            let last = last.saturating_add(longest.saturating_mul(2));
            let span = spans.entry(run.log).or_insert((first, last));
            *span = (span.0.min(first), span.1.max(last));
        }
        let overlaps = |run: &&Run| {
            let Some((first, last)) = spans.get(&run.log) else { return false };
            run.replaces != Some(false) && run.times.is_none_or(|times| times.0 <= *last && times.1 >= *first)
        };
        snapshot.runs.iter().filter(overlaps).collect()
    }

    /// Notes the windows of a segment's runs that name others.
    pub(super) fn read(
        &mut self,
        snapshot: &Snapshot,
        segment: &Segment,
        digest: &Digest,
        runs: &[&Run],
    ) -> Result<(), LakeError> {
        let name = name_of(digest);
        let damaged = LakeError::segment(&name);
        let mut of_block: HashMap<u32, Vec<bool>> = HashMap::new();
        for run in runs {
            if let Entry::Vacant(block) = of_block.entry(run.block) {
                block.insert(segment.replacing(run.block as usize).map_err(&damaged)?);
            }
            let rows = run.row as usize..(run.row as usize).saturating_add(run.windows as usize);
            let of_run = of_block.get(&run.block).and_then(|replacing| replacing.get(rows.clone()));
            let of_run =
                of_run.ok_or_else(|| LakeError::Damaged(format!("segment {name} has fewer rows")))?;
            if !of_run.contains(&true) {
                continue;
            }
            let (Some(log), Some(of)) = (snapshot.logs.get(&run.log), snapshot.headers.get(&run.tag)) else {
                continue;
            };
            let block = segment.block(run.block as usize).map_err(&damaged)?;
            let replaced = self.0.entry(log.clone()).or_default();
            for (row, _) in rows.zip(of_run).filter(|(_, replaces)| **replaces) {
                let window = window_description(&block.head(row, &of.header), &of.header)
                    .map_err(|error| LakeError::Segment { name: name.clone(), reason: error.to_string() })?;
                replaced.add(block.sequence(row), &window);
            }
        }
        Ok(())
    }

    /// Notes a window that no segment has yet.
    pub(super) fn note(&mut self, window: &Waiting, envelope: &Envelope) {
        if !envelope.replaces() {
            return;
        }
        let signed = envelope.signed_header();
        if let Some(description) = signed.description() {
            self.0.entry(window.log.clone()).or_default().add(signed.header().sequence, &description);
        }
    }

    /// Returns the windows of a log in whose place others come. None if there are none.
    pub(super) fn of(&self, log: &Log) -> Option<&Replaced> {
        self.0.get(log).filter(|replaced| !replaced.is_empty())
    }
}
