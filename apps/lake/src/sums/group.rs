//! The sums of one group of rows: one for each stream's header.

use sotto_sums::{Apart, Part, Sum, TAG_BYTES};
use sotto_wire::{MaskName, PartSum, SumsAnswer, WindowNames};

use super::streams::{Stream, Streams};
use crate::LakeError;

/// Windows whose numbers and pads follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) number: u64,
    pub(super) windows: u32,
    pub(super) pads: MaskName,
}

/// The sum of some windows of one stream.
pub(super) struct StreamSum {
    /// The number of the stream.
    pub(super) stream: usize,
    /// For each part that is added.
    sums: Vec<Apart>,
    pub(super) names: Vec<Named>,
    /// The total of the weights.
    pub(super) weight: u64,
}

/// Windows with equal lengths and counts.
pub(super) struct Rows<'r> {
    pub(super) ticks: u32,
    /// For each part that is added, its counts, and for each window a body and a tag.
    pub(super) parts: &'r [(Vec<u16>, Vec<u8>)],
}

impl StreamSum {
    pub(super) fn new(stream: usize, parts: usize) -> Self {
        Self { stream, sums: vec![Apart::default(); parts], names: Vec::new(), weight: 0 }
    }

    pub(super) fn name(&mut self, named: Named, weight: u64) {
        self.weight = self.weight.saturating_add(weight.saturating_mul(named.windows.into()));
        if let Some(last) = self.names.last_mut() {
            let follows = last.number.wrapping_add(last.windows.into()) == named.number
                && last.pads.salt == named.pads.salt
                && last.pads.sequence.wrapping_add(last.windows.into()) == named.pads.sequence;
            if let Some(windows) = last.windows.checked_add(named.windows).filter(|_| follows) {
                last.windows = windows;
                return;
            }
        }
        self.names.push(named);
    }

    /// Adds rows, each `weight` times.
    pub(super) fn add(&mut self, of: &Stream, rows: &Rows<'_>, weight: i64) -> Result<(), LakeError> {
        for ((part, kept), (counts, bytes)) in of.parts.iter().zip(&mut self.sums).zip(rows.parts) {
            let form = of.header.sums_form(usize::from(*part))?;
            let mut sum = Sum::of(&form, std::mem::take(kept))?;
            let row = form.body_bytes(rows.ticks) + TAG_BYTES;
            if weight == 1 && bytes.len() > row {
                sum.add_rows(rows.ticks, bytes, counts)?;
            } else {
                for bytes in bytes.chunks(row) {
                    let part = Part::read(&form, rows.ticks, bytes);
                    let part = part.map_err(|error| LakeError::Sum(error.to_string()))?;
                    sum.add(&part, counts, weight)?;
                }
            }
            *kept = sum.apart();
        }
        Ok(())
    }

    /// Adds a sum of windows, `weight` times.
    pub(super) fn add_sum(&mut self, of: &Stream, added: &PartSum<'_>, weight: i64) -> Result<(), LakeError> {
        for (part, kept) in of.parts.iter().zip(&mut self.sums) {
            let lacks = || LakeError::Sum(format!("a sum of `{}` lacks part {part}", of.header.stream()));
            let form = of.header.sums_form(usize::from(*part))?;
            let mut sum = Sum::of(&form, std::mem::take(kept))?;
            sum.add_sum(added.part(*part).ok_or_else(lacks)?, weight)?;
            *kept = sum.apart();
        }
        Ok(())
    }

    pub(super) fn windows(&self) -> u64 {
        self.names.iter().map(|named| u64::from(named.windows)).sum()
    }

    /// Returns the frame of the sum, as the cloud writes that of the same windows in the order of their numbers.
    pub(super) fn frame(&mut self, of: &Stream) -> Result<Vec<u8>, LakeError> {
        self.names.sort_by_key(|named| named.number);
        let windows = u32::try_from(self.windows());
        let windows = windows.map_err(|_| LakeError::Sum("a sum names at most 2^32 - 1 windows".to_owned()))?;
        let mut names = WindowNames::default();
        for named in &self.names {
            for ahead in 0..named.windows {
                names.push(named.pads.ahead(ahead.into()))?;
            }
        }
        let mut forms = Vec::with_capacity(of.parts.len());
        for part in &of.parts {
            let form = of.header.sums_form(usize::from(*part))?;
            if !form.fits(self.weight) {
                return Err(LakeError::Sum(format!(
                    "{windows} windows of `{}` of `{}`, with their weights, do not fit the bits of its places: group by a \
                     shorter time",
                    of.header.stream(),
                    of.header.device()
                )));
            }
            forms.push(form);
        }
        let sums = forms.iter().zip(&mut self.sums).map(|(form, kept)| Sum::of(form, std::mem::take(kept)));
        let sums = sums.collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<(u8, &Sum<'_>)> = of.parts.iter().copied().zip(&sums).collect();
        let sum = PartSum::of((0, windows), &parts);
        Ok(SumsAnswer { names, sums: vec![sum] }.write(&of.header)?)
    }

    /// Returns the bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let sums: usize = self.sums.iter().map(|sum| size_of::<Apart>() + sum.bytes()).sum();
        sums + self.names.capacity() * size_of::<Named>()
    }
}

/// The sums of one group.
#[derive(Default)]
pub(super) struct Group {
    /// Most groups have one.
    pub(super) streams: Vec<StreamSum>,
}

impl Group {
    pub(super) fn of(&mut self, stream: usize, parts: usize) -> &mut StreamSum {
        let at = self.streams.iter().position(|sum| sum.stream == stream);
        let at = at.unwrap_or_else(|| {
            self.streams.push(StreamSum::new(stream, parts));
            self.streams.len() - 1
        });
        &mut self.streams[at]
    }

    /// Returns the frames of the sums one behind the other, in the order of their streams' ids. None without a window.
    pub(super) fn frames(mut self, streams: &Streams) -> Result<Option<Vec<u8>>, LakeError> {
        let mut frames = Vec::with_capacity(self.streams.len());
        for sum in self.streams.iter_mut().filter(|sum| !sum.names.is_empty()) {
            let stream = streams.get(sum.stream)?;
            frames.push((stream.header.id().0, sum.frame(stream)?));
        }
        frames.sort_by_key(|(id, _)| *id);
        let all: Vec<Vec<u8>> = frames.into_iter().map(|(_, frame)| frame).collect();
        Ok((!all.is_empty()).then(|| all.concat()))
    }
}
