//! A window of a log.

use std::ops::Range;
use std::sync::Arc;

use sotto_pack::WindowDescription;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{Digest, HeadFacts, ID_BYTES, MaskName, StreamHeader, TakenReceipt, window_description};

use super::log::StreamLog;
use super::piece::{One, PROVISIONAL, Piece, RECEIPT, REPLACES, Run, What};
use crate::runs::partition_point;

/// A window of a log, as its device signed it, or that it is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'l> {
    log: &'l StreamLog,
    piece: &'l Piece,
    /// Its position in the log, from 0.
    pub(crate) position: u64,
    /// Its index in its piece.
    index: u64,
}

impl<'l> Entry<'l> {
    pub(super) fn new(log: &'l StreamLog, piece: &'l Piece, position: u64, index: u64) -> Self {
        Self { log, piece, position, index }
    }

    /// Returns a window of the same piece, by its index behind this one.
    pub(crate) fn nth(&self, index: u64) -> Self {
        Self { position: self.position + index, index: self.index + index, ..*self }
    }

    /// Iterates over this window and those behind it in its piece, `count` in all.
    pub(crate) fn all(self, count: u64) -> impl Iterator<Item = Self> + use<'l> {
        (0..count).map(move |index| self.nth(index))
    }

    /// Returns the times of the first and the last reading of `count` windows of its piece, from this one on.
    pub(crate) fn span(&self, count: u64) -> Option<(i64, i64)> {
        let (first, last) = (self.times()?, self.nth(count.saturating_sub(1)).times()?);
        Some((first.0.min(last.0), first.1.max(last.1)))
    }

    /// Returns the facts by which windows of runs have one description but for their start; None for other windows.
    pub(crate) fn shape(&self) -> Option<(u32, u32, bool)> {
        self.run().map(|run| (run.form.stream, run.form.ticks, run.form.generated))
    }

    /// Returns the start of a window in a run.
    pub(crate) fn start(&self) -> Option<i64> {
        self.run().map(|run| run.at(self.index).start)
    }

    fn run(&self) -> Option<&'l Run> {
        if let Piece::Run(run) = self.piece { Some(run) } else { None }
    }

    fn one(&self) -> Option<&'l One> {
        if let Piece::One(one) = self.piece { Some(one) } else { None }
    }

    /// Returns the head and its stream, and the marks of a window that is in no run; None in version 1.
    fn head(&self) -> Option<(&'l Arc<StreamHeader>, &'l [u8], u8)> {
        match &self.one()?.what {
            What::Sums { stream, head, marks } | What::Slots { stream, head, marks, .. } => {
                Some((self.log.streams.get(*stream as usize)?, head, *marks))
            }
            What::Old { .. } => None,
        }
    }

    fn has(&self, mark: u8) -> bool {
        self.head().is_some_and(|(_, _, marks)| marks & mark != 0)
    }

    /// Returns the sequence number; only the cloud's claim if the window is gone or unread.
    pub(crate) fn sequence(&self) -> u64 {
        match self.piece {
            Piece::Run(run) => run.at(self.index).sequence,
            Piece::Gone { first, .. } => first.wrapping_add(self.index),
            Piece::Unread { sequence } => *sequence,
            Piece::One(one) => one.sequence,
        }
    }

    /// Returns true if the device's signature of the window was checked, and the window is not deleted.
    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.piece, Piece::Run(_) | Piece::One(_))
    }

    /// Returns true if this plant's owner deleted the window.
    pub(crate) fn is_deleted_here(&self) -> bool {
        matches!(self.piece, Piece::Gone { here: true, .. })
    }

    /// Returns true if the window was deleted, by the cloud's word alone.
    pub(crate) fn is_taken(&self) -> bool {
        matches!(self.piece, Piece::Gone { here: false, .. })
    }

    /// Returns true if the cloud cannot read the window.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.piece, Piece::Unread { .. })
    }

    /// Returns the times of the first and the last reading, in milliseconds since 1970; None without a signed header.
    pub(crate) fn times(&self) -> Option<(i64, i64)> {
        if let Some(run) = self.run() {
            let (start, period) = (run.at(self.index).start, self.stream()?.period());
            return Some((start, period.at(start, run.form.ticks).saturating_sub(1)));
        }
        self.one().map(|one| (one.started, one.ended))
    }

    /// Returns the bytes that the window took on the way.
    pub(crate) fn bytes(&self) -> u64 {
        self.run().map_or_else(|| self.one().map_or(0, |one| one.bytes), |run| run.bytes_at(self.index))
    }

    /// Returns the bytes that it and the windows behind it in its run took, `count` in all; None for a window that is in no run.
    pub(crate) fn bytes_of(&self, count: u64) -> Option<u64> {
        self.run().map(|run| run.bytes_of(self.index, count))
    }

    /// Returns the indexes behind this one of those of `count` windows of its piece whose readings begin before `until` and end at
    /// `since` or later.
    pub(crate) fn between(&self, count: u64, since: Option<i64>, until: Option<i64>) -> Range<u64> {
        let times = |index: u64| self.nth(index).times();
        let is_over = |index| times(index).is_some_and(|(_, ended)| since.is_some_and(|since| ended < since));
        let is_before =
            |index| times(index).is_some_and(|(started, _)| until.is_none_or(|until| started < until));
        let end = partition_point(0..count, is_before);
        partition_point(0..end, is_over)..end
    }

    /// Returns true for a window that comes in the place of others.
    pub(crate) fn replaces(&self) -> bool {
        self.has(REPLACES)
    }

    /// Returns true for a piece of a window that was still open.
    pub(crate) fn is_provisional(&self) -> bool {
        self.has(PROVISIONAL)
    }

    /// Returns the receipt that the window names.
    pub(crate) fn receipt(&self) -> Option<TakenReceipt> {
        if let Some(run) = self.run() {
            let (receipt, own) = (run.form.receipt?, run.at(self.index).sequence);
            let sequence = own.wrapping_sub(receipt.back);
            return Some(TakenReceipt { sequence, position: sequence.wrapping_add(receipt.ahead) });
        }
        let (stream, head, _) = self.head().filter(|(_, _, marks)| marks & RECEIPT != 0)?;
        HeadFacts::of(head, stream).ok()?.receipt
    }

    /// Returns the header of its stream; None in version 1.
    pub(crate) fn stream(&self) -> Option<&'l Arc<StreamHeader>> {
        match self.run() {
            Some(run) => self.log.streams.get(run.form.stream as usize),
            None => Some(self.head()?.0),
        }
    }

    /// Returns the parameters, the key and the stream's name of a window.
    pub(crate) fn form(&self) -> Option<(ParameterId, KeyId, &'l str)> {
        if let Some(stream) = self.stream() {
            return Some((stream.parameters(), stream.key(), stream.stream()));
        }
        let What::Old { signed, .. } = &self.one()?.what else { return None };
        let header = signed.header();
        Some((header.parameters, header.key, &header.stream))
    }

    /// Returns the number of readings that a header of version 1 states.
    pub(crate) fn stated_readings(&self) -> Option<u64> {
        let What::Old { signed, .. } = &self.one()?.what else { return None };
        Some(signed.header().readings.into())
    }

    /// Returns the name of its mask or pads; None in version 1.
    pub(crate) fn mask(&self) -> Option<MaskName> {
        match self.run() {
            Some(run) => {
                let sequence = run.at(self.index).sequence.wrapping_sub(run.form.back);
                Some(MaskName { salt: run.form.salt, sequence })
            }
            None => {
                let (stream, head, _) = self.head()?;
                Some(HeadFacts::of(head, stream).ok()?.mask)
            }
        }
    }

    /// Returns the description; None if it cannot be read.
    pub(crate) fn description(&self) -> Option<WindowDescription> {
        if let Some(run) = self.run() {
            let stream = self.stream()?;
            let start = run.at(self.index).start;
            let whole = WindowDescription::whole(stream.layout(), start, stream.period(), run.form.ticks);
            let rounded = stream.counts_rounded().then(|| vec![0; stream.layout().channels().len()]);
            return Some(WindowDescription { generated: run.form.generated, rounded, ..whole });
        }
        if let Some((stream, head, _)) = self.head() {
            return window_description(head, stream).ok();
        }
        let What::Old { signed, .. } = &self.one()?.what else { return None };
        WindowDescription::parse(&signed.header().layout).ok()
    }

    /// Returns the leaf and the id of a window that is not of sums.
    pub(crate) fn named(&self) -> Option<(Digest, [u8; ID_BYTES])> {
        match &self.one()?.what {
            What::Sums { .. } => None,
            What::Slots { leaf, id, .. } => Some((*leaf, *id)),
            What::Old { signed, id } => Some((signed.leaf(), *id)),
        }
    }
}

impl StreamLog {
    /// Iterates over the windows, in the order of the log.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries_from(0)
    }

    /// Iterates over the windows from a position on.
    pub(crate) fn entries_from(&self, position: u64) -> impl Iterator<Item = Entry<'_>> {
        let first = self.piece_at(position);
        let pieces = self.pieces[first..].iter().zip(&self.positions[first..]);
        pieces.flat_map(move |(piece, at)| {
            let from = position.saturating_sub(*at).min(piece.count());
            (from..piece.count()).map(move |index| Entry::new(self, piece, at + index, index))
        })
    }

    /// Iterates over the pieces of the log, each by its first window and the number of windows. Windows of a piece of several
    /// are all gone, or have the same form and follow each other.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Entry<'_>, u64)> {
        let pieces = self.pieces.iter().zip(&self.positions);
        pieces.map(|(piece, position)| (Entry::new(self, piece, *position, 0), piece.count()))
    }

    /// Iterates over the pieces between two positions, as [`StreamLog::pieces`] does, cut at these.
    pub(crate) fn pieces_between(&self, from: u64, to: u64) -> impl Iterator<Item = (Entry<'_>, u64)> {
        let pieces = self.pieces.iter().zip(&self.positions).skip(self.piece_at(from));
        pieces.take_while(move |(_, position)| **position < to).filter_map(move |(piece, position)| {
            let behind = from.saturating_sub(*position);
            let count = piece.count().min(to - position).checked_sub(behind).filter(|count| *count > 0)?;
            Some((Entry::new(self, piece, position + behind, behind), count))
        })
    }

    /// Returns the window at a position.
    pub(crate) fn entry_at(&self, position: u64) -> Option<Entry<'_>> {
        if position < self.size { self.entries_from(position).next() } else { None }
    }
}
