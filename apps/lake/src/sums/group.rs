//! The sums of one group of rows: one for each stream's header.

use std::collections::{BTreeMap, HashMap};

use sotto_sums::{Apart, Form, Part, Sum, TAG_BYTES};
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

/// The sum of some windows of one stream: as many as the bits of a place hold.
pub(super) struct StreamSum {
    /// The number of the stream.
    pub(super) stream: usize,
    piece: Piece,
    /// For each part that is added.
    sums: Vec<Apart>,
    pub(super) names: Vec<Named>,
    /// The total of the weights.
    pub(super) weight: u64,
}

/// The windows that one sum has: those with numbers in a range, or one that is a sum already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Piece {
    /// Numbers divided by the stream's capacity, rounded down.
    Numbers(u64),
    /// The first number of a roll-up that does not lie in one such range.
    Rolled(u64),
}

impl Piece {
    pub(super) fn of(stream: &Stream, number: u64) -> Self {
        Self::Numbers(number / stream.capacity)
    }

    /// Returns the piece of a roll-up from its first number to its last.
    pub(super) fn of_rolled(stream: &Stream, (first, last): (u64, u64)) -> Self {
        let piece = Self::of(stream, first);
        if piece == Self::of(stream, last) { piece } else { Self::Rolled(first) }
    }
}

/// Windows with equal lengths and counts.
pub(super) struct Rows<'r> {
    pub(super) ticks: u32,
    /// For each part that is added, its counts, and for each window a body and a tag.
    pub(super) parts: &'r [(Vec<u16>, Vec<u8>)],
}

impl StreamSum {
    fn new(stream: usize, piece: Piece, parts: usize) -> Self {
        Self { stream, piece, sums: vec![Apart::default(); parts], names: Vec::new(), weight: 0 }
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

    /// Returns the sums of the parts, in the order of the stream's; nothing stays.
    fn take<'f>(&mut self, forms: &[Form<'f>]) -> Result<Vec<Sum<'f>>, LakeError> {
        let sums = forms.iter().zip(&mut self.sums).map(|(form, kept)| Sum::of(form, std::mem::take(kept)));
        Ok(sums.collect::<Result<_, _>>()?)
    }

    pub(super) fn is_rolled(&self) -> bool {
        matches!(self.piece, Piece::Rolled(_))
    }

    /// Returns the bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let sums: usize = self.sums.iter().map(|sum| size_of::<Apart>() + sum.bytes()).sum();
        sums + self.names.capacity() * size_of::<Named>()
    }
}

/// Sums from which on a group has an index.
const INDEXED: usize = 16;

/// The sums of one group.
#[derive(Default)]
pub(super) struct Group {
    /// Most groups have one.
    pub(super) streams: Vec<StreamSum>,
    /// Their places, if they are many.
    #[expect(clippy::box_collection, reason = "most groups have none, and there are many groups")]
    places: Option<Box<HashMap<(usize, Piece), usize>>>,
}

impl Group {
    pub(super) fn of(&mut self, stream: usize, piece: Piece, parts: usize) -> &mut StreamSum {
        let at = self.place(stream, piece).unwrap_or_else(|| {
            let at = self.streams.len();
            self.streams.push(StreamSum::new(stream, piece, parts));
            if let Some(places) = &mut self.places {
                places.insert((stream, piece), at);
            } else if at >= INDEXED {
                let places = self.streams.iter().enumerate().map(|(at, sum)| ((sum.stream, sum.piece), at));
                self.places = Some(Box::new(places.collect()));
            }
            at
        });
        &mut self.streams[at]
    }

    fn place(&self, stream: usize, piece: Piece) -> Option<usize> {
        let is = |sum: &StreamSum| sum.stream == stream && sum.piece == piece;
        // Windows come in the order of their numbers, mostly.
        let last = self.streams.last().filter(|sum| is(sum)).map(|_| self.streams.len() - 1);
        last.or_else(|| match &self.places {
            Some(places) => places.get(&(stream, piece)).copied(),
            None => self.streams.iter().rposition(is),
        })
    }

    /// Returns the sums by streams, in the order of the streams' ids, each in the order of its first windows.
    pub(super) fn by_stream(self, streams: &Streams) -> Result<Vec<(&Stream, Vec<StreamSum>)>, LakeError> {
        let mut all: BTreeMap<[u8; 32], (&Stream, Vec<StreamSum>)> = BTreeMap::new();
        for mut sum in self.streams {
            if sum.names.is_empty() {
                continue;
            }
            sum.names.sort_by_key(|named| named.number);
            let stream = streams.get(sum.stream)?;
            all.entry(stream.header.id().0).or_insert((stream, Vec::new())).1.push(sum);
        }
        let mut all: Vec<_> = all.into_values().collect();
        for (_, sums) in &mut all {
            sums.sort_by_key(|sum| sum.names.first().map(|named| named.number));
        }
        Ok(all)
    }

    /// Returns the frames of the sums one behind the other. None without a window.
    pub(super) fn frames(self, streams: &Streams) -> Result<Option<Vec<u8>>, LakeError> {
        let mut frames = Vec::new();
        for (stream, mut sums) in self.by_stream(streams)? {
            if let Some(sum) = sums.iter().find(|sum| sum.weight > stream.capacity) {
                return Err(LakeError::Sum(format!(
                    "the weights of windows of `{}` of `{}` are {} together, and the bits of a place hold {}: group by a \
                     shorter time, or take smaller weights",
                    stream.header.stream(),
                    stream.header.device(),
                    sum.weight,
                    stream.capacity
                )));
            }
            frames.extend(frame(stream, &mut sums)?);
        }
        Ok((!frames.is_empty()).then_some(frames))
    }
}

/// Returns the frame of sums of one stream, as the cloud writes it: the names of all windows, and a sum of each piece.
pub(super) fn frame(of: &Stream, sums: &mut [StreamSum]) -> Result<Vec<u8>, LakeError> {
    let many = || LakeError::Sum("an answer names at most 2^32 - 1 windows".to_owned());
    let forms = of.parts.iter().map(|part| of.header.sums_form(usize::from(*part)));
    let forms = forms.collect::<Result<Vec<Form<'_>>, _>>()?;
    let (mut names, mut pieces) = (WindowNames::default(), Vec::with_capacity(sums.len()));
    for sum in sums {
        let first = u32::try_from(names.len()).map_err(|_| many())?;
        for named in &sum.names {
            for ahead in 0..named.windows {
                names.push(named.pads.ahead(ahead.into()))?;
            }
        }
        let count = u32::try_from(names.len()).map_err(|_| many())? - first;
        let added = sum.take(&forms)?;
        let parts: Vec<(u8, &Sum<'_>)> = of.parts.iter().copied().zip(&added).collect();
        pieces.push(PartSum::of((first, count), &parts));
    }
    Ok(SumsAnswer { names, sums: pieces }.write(&of.header)?)
}
