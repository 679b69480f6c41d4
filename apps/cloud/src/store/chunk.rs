//! Windows of sums in one blob: up to [`NUMBERS`] consecutive numbers of a stream.
//!
//! A chunk is a list of runs. A run has windows with consecutive numbers and pads, and with equal lengths and counts:
//! `first number, modulo 64, 1 ‖ windows 1 ‖ salt 12 ‖ first pad number 8 ‖ ticks 4 ‖` for each part of the stream
//! `counts, 2 each ‖ rows`. A row is a body and a tag, as the window has it. Integers are little-endian.

use sotto_sums::{Form, TAG_BYTES};
use sotto_wire::{Envelope, MaskName, StreamHeader};

use super::StoreError;
use super::error::damaged;

/// Numbers of a chunk.
pub(crate) const NUMBERS: u64 = 64;

/// Some windows of a run, as slices of a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Run<'c> {
    /// The first number, modulo [`NUMBERS`].
    pub(crate) first: u64,
    pub(crate) windows: usize,
    /// The pads of the first window.
    name: MaskName,
    pub(crate) ticks: u32,
    /// For each part of the stream.
    pub(crate) parts: Vec<Rows<'c>>,
}

/// A part of the windows of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'c> {
    /// The counts of each window, 2 bytes each.
    pub(crate) counts: &'c [u8],
    /// A body and a tag for each window.
    pub(crate) rows: &'c [u8],
    /// Bytes of a row.
    bytes: usize,
}

impl<'c> Rows<'c> {
    /// Returns the rows of `count` windows from the one at index `from` on.
    pub(crate) fn some(&self, from: usize, count: usize) -> &'c [u8] {
        self.rows.get(from * self.bytes..(from + count) * self.bytes).unwrap_or_default()
    }
}

impl<'c> Run<'c> {
    /// Returns the pads of the window at an index.
    pub(crate) fn name(&self, at: usize) -> MaskName {
        MaskName { sequence: self.name.sequence.wrapping_add(at as u64), ..self.name }
    }

    fn end(&self) -> u64 {
        self.first + self.windows as u64
    }

    /// Returns the windows with numbers from `from` up to `to`, both modulo [`NUMBERS`]; None if there are none.
    fn within(&self, from: u64, to: u64) -> Option<Self> {
        let (first, end) = (self.first.max(from), self.end().min(to));
        let windows = end.checked_sub(first).filter(|windows| *windows > 0)? as usize;
        let skipped = (first - self.first) as usize;
        let parts = self.parts.iter().map(|part| Rows { rows: part.some(skipped, windows), ..*part });
        Some(Self { first, windows, name: self.name(skipped), ticks: self.ticks, parts: parts.collect() })
    }

    /// Returns true if the windows of `next` can follow in one run.
    fn goes_on(&self, next: &Self) -> bool {
        let of_run = self.end() == next.first && self.name(self.windows) == next.name;
        let counts = self.parts.iter().zip(&next.parts).all(|(part, next)| part.counts == next.counts);
        // The number after the largest is no pad number.
        of_run && next.name.sequence != 0 && self.ticks == next.ticks && counts
    }
}

/// A window as a run of one.
pub(super) struct Single {
    counts: Vec<Vec<u8>>,
}

impl Single {
    /// Returns the counts of a window of sums.
    pub(super) fn of(header: &StreamHeader, envelope: &Envelope) -> Option<Self> {
        let window = envelope.signed_header().description()?;
        let counts = header
            .parts()
            .iter()
            .map(|part| part.counts(&window).into_iter().flat_map(u16::to_le_bytes).collect());
        Some(Self { counts: counts.collect() })
    }

    /// Returns the window as a run.
    pub(super) fn run<'c>(&'c self, forms: &[Form<'_>], envelope: &'c Envelope) -> Option<Run<'c>> {
        let (name, mut rest) = (envelope.mask()?, envelope.body().coefficients()?);
        let ticks = envelope.signed_header().description()?.sent_ticks();
        let mut parts = Vec::with_capacity(forms.len());
        for (form, counts) in forms.iter().zip(&self.counts) {
            let bytes = form.body_bytes(ticks) + TAG_BYTES;
            let (rows, after) = rest.split_at_checked(bytes)?;
            parts.push(Rows { counts, rows, bytes });
            rest = after;
        }
        Some(Run { first: envelope.header().sequence % NUMBERS, windows: 1, name, ticks, parts })
    }
}

/// Returns the forms of a stream's parts.
pub(crate) fn forms(header: &StreamHeader) -> Result<Vec<Form<'_>>, StoreError> {
    (0..header.parts().len()).map(|part| header.sums_form(part).map_err(damaged)).collect()
}

/// Reads the runs of a chunk, which ascend.
pub(crate) fn read<'c>(forms: &[Form<'_>], chunk: &'c [u8]) -> Result<Vec<Run<'c>>, StoreError> {
    let wrong = || StoreError::Damaged("a chunk of windows of sums has another layout".to_owned());
    let (mut runs, mut rest): (Vec<Run<'c>>, _) = (Vec::new(), chunk);
    while !rest.is_empty() {
        let run = run(forms, &mut rest).ok_or_else(wrong)?;
        if run.windows == 0 || run.end() > NUMBERS || runs.last().is_some_and(|last| last.end() > run.first) {
            return Err(wrong());
        }
        runs.push(run);
    }
    Ok(runs)
}

fn run<'c>(forms: &[Form<'_>], rest: &mut &'c [u8]) -> Option<Run<'c>> {
    let [first, windows] = array(rest)?;
    let (salt, sequence) = (array(rest)?, u64::from_le_bytes(array(rest)?));
    let ticks = u32::from_le_bytes(array(rest)?);
    let mut parts = Vec::with_capacity(forms.len());
    for form in forms {
        if ticks > form.ticks() {
            return None;
        }
        let bytes = form.body_bytes(ticks) + TAG_BYTES;
        let counts = take(rest, 2 * form.counts(ticks))?;
        parts.push(Rows { counts, rows: take(rest, bytes * usize::from(windows))?, bytes });
    }
    let name = MaskName { salt, sequence };
    Some(Run { first: first.into(), windows: windows.into(), name, ticks, parts })
}

fn take<'c>(rest: &mut &'c [u8], bytes: usize) -> Option<&'c [u8]> {
    let (taken, after) = rest.split_at_checked(bytes)?;
    *rest = after;
    Some(taken)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    take(rest, N)?.try_into().ok()
}

/// Returns the runs without the windows of some numbers, which are modulo [`NUMBERS`] and ascend.
pub(super) fn without<'c>(runs: &[Run<'c>], numbers: &[u64]) -> Vec<Run<'c>> {
    let mut left = Vec::with_capacity(runs.len() + 1);
    for run in runs {
        let mut from = 0;
        for number in numbers.iter().copied().chain([NUMBERS]) {
            left.extend(run.within(from, number));
            from = number + 1;
        }
    }
    left
}

/// Inserts a window. Replaces the one with its number.
pub(super) fn insert<'c>(runs: &[Run<'c>], window: Run<'c>) -> Vec<Run<'c>> {
    let mut runs = without(runs, &[window.first]);
    runs.insert(runs.partition_point(|run| run.first < window.first), window);
    runs
}

/// Returns the chunk of these runs.
pub(super) fn write(runs: &[Run<'_>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    for together in runs.chunk_by(Run::goes_on) {
        let Some(first) = together.first() else { continue };
        let windows: usize = together.iter().map(|run| run.windows).sum();
        // At most 64 windows of a chunk.
        out.extend([first.first as u8, windows as u8]);
        out.extend(first.name.salt);
        out.extend(first.name.sequence.to_le_bytes());
        out.extend(first.ticks.to_le_bytes());
        for part in 0..first.parts.len() {
            out.extend_from_slice(first.parts[part].counts);
            together.iter().for_each(|run| out.extend_from_slice(run.parts[part].rows));
        }
    }
    out
}
